import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { keyIdOf } from '../../../attest/encoding/public-key.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { parseTlogPolicy } from '../../../attest/log/witness-policy.ts';
import type { Anchors } from '../../../attest/verify/anchors.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { makeWitness } from '../log/witness.ts';
import { believing, edited, makeFoundry } from '../material/foundry.ts';
import { anchorsOf, type Loose, verifyStranger } from './strangers.ts';

const foundry = await makeFoundry();
const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const key = { privateKey: pair.privateKey, hint: keyIdOf(pair.publicKey) };
const byKey: Anchors = anchorsOf({ signers: [{ keyId: key.hint, key: pair.publicKey, from: 'given' }] });
const entryOf = (bundle: Loose): Loose => bundle.verificationMaterial.tlogEntries[0];
const withoutEntry = (bundle: Loose): Loose =>
  edited(bundle, (copy) => (copy.verificationMaterial.tlogEntries = []));

async function logCheck(bundle: Loose, anchors: Anchors, options: Loose = {}): Promise<readonly unknown[]> {
  const report = await verifyStranger(bundle, options, anchors);
  const check = report.checks.find(({ id }) => id === 'log');
  return [verifyExitCode(report), check?.status, check?.code];
}

const bundles: Record<string, Loose> = {
  'Rekor v1': await foundry.make({ key }),
  'Rekor v1, hashedrekord': await foundry.make({ key, entry: 'hashedrekord' }),
  'Rekor v2': await foundry.make({ key, entry: 'v2', inRekor2: true }),
  'Rekor v2, dsse': await foundry.make({ key, entry: 'dsse2', inRekor2: true }),
};

t.test('by a key alone an entry is reported as not verified, and removing it changes nothing', async (t) => {
  for (const [name, bundle] of Object.entries(bundles)) {
    t.same(await logCheck(bundle, byKey), [0, 'unverified', 'not-required'], name);
    t.same(await logCheck(withoutEntry(bundle), byKey), [0, 'unverified', 'not-required'], name);
    const spoiled = edited(bundle, (copy) => {
      entryOf(copy).canonicalizedBody = Buffer.from('{}').toString('base64');
      entryOf(copy).inclusionProof.checkpoint.envelope = 'no checkpoint';
    });
    t.same(await logCheck(spoiled, byKey), [0, 'unverified', 'not-required'], `${name}, spoiled`);
  }
  const { checks } = await verifyStranger(bundles['Rekor v1'], {}, byKey);
  t.match(
    checks.find(({ id }) => id === 'log'),
    { detail: { expected: /--trusted-root FILE/, found: /not verified/ } },
    'the report says what verifies it',
  );
});

t.test('an entry that is demanded must be there and be verified', async (t) => {
  const root = edited(foundry.root, (copy) => copy.tlogs.push(foundry.rekor2));
  for (const [name, bundle] of Object.entries(bundles)) {
    const demanded = { logged: true, logRequired: true };
    t.same((await logCheck(bundle, byKey, demanded))[0], 3, name);
    t.same(await logCheck(withoutEntry(bundle), byKey, demanded), [3, 'missing', 'not-logged'], name);
    const anchors = { ...believing(root, undefined), signers: byKey.signers };
    t.same(await logCheck(bundle, anchors, { logged: true }), [0, 'passed', undefined], name);
    t.same(
      await logCheck(withoutEntry(bundle), anchors, { logged: true }),
      [3, 'missing', 'not-logged'],
      name,
    );
  }
});

t.test('an entry that a pinned log contradicts is refused, and one of another log is not', async (t) => {
  const bundle = bundles['Rekor v2'];
  const name = 'log2026-1.rekor.example.org';
  const listed = believing(
    edited(foundry.root, (copy) => (copy.tlogs = [foundry.rekor2])),
    undefined,
  );
  const pinned = (listed.trustedRoot?.ledgers ?? []).map((ledger) => ({
    ...ledger,
    from: 'pinned' as const,
  }));
  t.same(await logCheck(bundle, { ...byKey, ledgers: pinned }), [0, 'passed', undefined]);
  const moved = edited(bundle, (copy) => (entryOf(copy).inclusionProof.hashes = []));
  t.same(await logCheck(moved, { ...byKey, ledgers: pinned }), [1, 'failed', 'mismatch']);
  const unsigned = edited(bundle, (copy) => {
    const { checkpoint } = entryOf(copy).inclusionProof;
    checkpoint.envelope = checkpoint.envelope.replace(/\u2014 log2026.*\n/, '');
  });
  t.same(
    await logCheck(unsigned, { ...byKey, ledgers: pinned }),
    [0, 'unverified', 'not-required'],
    'a checkpoint that the log did not sign',
  );
  const other = ledgerKeyFor(name, generateKeyPairSync('ed25519').publicKey);
  t.same(
    await logCheck(moved, { ...byKey, ledgers: [{ ...other, from: 'pinned' }] }),
    [0, 'unverified', 'not-required'],
    'another key under the same name',
  );
});

t.test('a cosignature that is dated after the verification does not satisfy a witness policy', async (t) => {
  const witness = makeWitness('alice.example');
  const policy = parseTlogPolicy(Buffer.from(`witness alice ${witness.key.vkey}\nquorum alice\n`));
  const listed = believing(
    edited(foundry.root, (copy) => (copy.tlogs = [foundry.rekor2])),
    undefined,
  );
  const ledgers = (listed.trustedRoot?.ledgers ?? []).map((one) => ({ ...one, from: 'given' as const }));
  const cosigned = edited(bundles['Rekor v2'], (copy) => {
    const { checkpoint } = entryOf(copy).inclusionProof;
    checkpoint.envelope += witness.line(checkpoint.envelope, 1_800_000_000n);
  });
  const anchors = { ...byKey, ledgers, witnessPolicies: [policy] };
  const at = (seconds: number) => logCheck(cosigned, anchors, { logged: true, nowMs: seconds * 1000 });
  t.same(await at(1_800_000_000), [0, 'passed', undefined]);
  t.same(await at(1_800_000_000 - 300), [0, 'passed', undefined]);
  t.same(await at(1_800_000_000 - 301), [3, 'unverified', 'no-quorum']);
});
