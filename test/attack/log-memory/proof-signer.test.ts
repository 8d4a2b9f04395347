/*
 * Whoever holds a log can write any key beside any signature: a log proof names a signer only where the signature in
 * its entry is that key's.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import t from 'tap';
import { keyIdOf, parsePublicKey, toSpki } from '../../../attest/encoding/public-key.ts';
import { openUserLedgerKey } from '../../../attest/keys/key-signer.ts';
import { formatTlogProof, signCheckpoint } from '../../../attest/log/checkpoint.ts';
import { leafHash } from '../../../attest/log/merkle.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import type { GivenArtifact } from '../../../attest/verify/given-artifact.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { verifyTlogProof } from '../../../attest/verify/verify-tlog-proof.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { makeMachine, removeMachines } from '../../attest/verify/sealed-run.ts';
import { anchorsOf, artifact, given, type Loose } from '../../attest/verify/strangers.ts';

t.teardown(removeMachines);

const machine = makeMachine();
mkdirSync(machine.home, { recursive: true });
const log = await openUserLedgerKey({ HOME: machine.home });
const ledger = ledgerKeyFor('evil.example/log', parsePublicKey(log.publicKeyPem));
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const ed = generateKeyPairSync('ed25519');
const ecDetails = 'PKIX_ECDSA_P256_SHA_256';
const byDigest: GivenArtifact = { name: 'app.tgz', sha256: given.sha256 };

/** The only entry of a log that its holder signs. */
async function proofOf(key: KeyObject, signature: Buffer, keyDetails: string, changes: Loose = {}) {
  const digest = createHash('sha256').update(artifact).digest('base64');
  const verifier = { keyDetails, publicKey: { rawBytes: toSpki(key).toString('base64') } };
  const body = Buffer.from(
    canonicalize({
      apiVersion: '0.0.2',
      kind: 'hashedrekord',
      spec: {
        hashedRekordV002: {
          data: { algorithm: 'SHA2_256', digest },
          signature: { content: signature.toString('base64'), verifier },
        },
      },
      ...changes,
    }),
  );
  const { source } = await signCheckpoint({ size: 1, root: leafHash(body) }, log, ledger);
  return Buffer.from(formatTlogProof({ logIndex: 0, hashes: [], body, checkpoint: source } as Loose));
}

async function judged(proof: Buffer, key: KeyObject, artifacts = [given as GivenArtifact]): Promise<Loose> {
  const anchors = anchorsOf({
    signers: [{ keyId: keyIdOf(key), key, from: 'given' }],
    ledgers: [{ ...ledger, from: 'given' }],
  });
  const report = await verifyTlogProof(proof, anchors, artifacts);
  const statusOf = (id: string) => report.checks.find((check) => check.id === id)?.status;
  return { exit: verifyExitCode(report), entry: statusOf('log-entry'), signer: statusOf('signer') };
}

t.test(
  'a log proof names the key that signed the artifact, by digest alone where that suffices',
  async (t) => {
    const byCurve = await proofOf(ec.publicKey, sign('sha256', artifact, ec.privateKey), ecDetails);
    t.match(await judged(byCurve, ec.publicKey), { exit: 0, signer: 'passed' });
    t.match(await judged(byCurve, ec.publicKey, [byDigest]), { exit: 0, signer: 'passed' });
    const byEd = await proofOf(ed.publicKey, sign(null, artifact, ed.privateKey), 'PKIX_ED25519');
    t.match(await judged(byEd, ed.publicKey), { exit: 0, signer: 'passed' });
    t.match(await judged(byEd, ed.publicKey, [byDigest]), { exit: 3, signer: 'unverified' });
  },
);

t.test('a log entry does not make an invalid signature count', async (t) => {
  const junk = Buffer.from('not a signature at all');
  const another = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
  for (const [what, key, signature, details] of [
    ['no signature', ec.publicKey, junk, ecDetails],
    ['no signature, Ed25519', ed.publicKey, junk, 'PKIX_ED25519'],
    ['of another key', ec.publicKey, sign('sha256', artifact, another), ecDetails],
    ['over something else', ec.publicKey, sign('sha256', junk, ec.privateKey), ecDetails],
    ['over something else, Ed25519', ed.publicKey, sign(null, junk, ed.privateKey), 'PKIX_ED25519'],
  ] as const)
    t.match(
      await judged(await proofOf(key, signature, details), key),
      { exit: 1, entry: 'failed', signer: 'unverified' },
      what,
    );
  const byDigests = await judged(await proofOf(ed.publicKey, junk, 'PKIX_ED25519'), ed.publicKey, [byDigest]);
  t.match(byDigests, { exit: 3, signer: 'unverified' });
});

t.test('a log entry of another kind or of another key type names no signer', async (t) => {
  const signature = sign('sha256', artifact, ec.privateKey);
  const exitOf = async (details: string, changes: Loose = {}) =>
    (await judged(await proofOf(ec.publicKey, signature, details, changes), ec.publicKey)).exit;
  t.equal(await exitOf(ecDetails), 0);
  t.equal(await exitOf(ecDetails, { kind: 'dsse' }), 1);
  t.equal(await exitOf(ecDetails, { apiVersion: '0.0.1' }), 1);
  t.equal(await exitOf('whatever'), 3);
  t.equal(await exitOf('PKIX_ED25519'), 3);
  const unread = generateKeyPairSync('x25519').publicKey;
  t.equal((await judged(await proofOf(unread, signature, ecDetails), unread)).exit, 3);
});
