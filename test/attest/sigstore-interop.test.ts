import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { bundleFromJSON, bundleToJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import t, { type Test } from 'tap';
import { formatBundle, parseBundle } from '../../attest/bundle/bundle.ts';
import { toSpki } from '../../attest/encoding/public-key.ts';
import { openUserSigningKey } from '../../attest/keys/key-signer.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { ledgerKeyFor, parseVkey } from '../../attest/log/note.ts';
import { formatTrustedRoot } from '../../attest/public/trusted-root.ts';
import { commands } from '../../bin/command-table.ts';
import { systemClock } from '../../core/base/clock.ts';
import { runLine } from '../bin/host.ts';
import { makeMachine, removeMachines, sealRun } from './verify/sealed-run.ts';
import { type Loose, statement } from './verify/strangers.ts';

t.teardown(removeMachines);

const machine = makeMachine();
const env = { HOME: machine.home };
for (const runId of ['run-1', 'run-2', 'run-3', 'run-4']) await sealRun(machine, { runId });
const sealed = await sealRun(machine, { runId: 'run-5' });
const text = (sealed.run.get('provenance.sigstore.json') ?? '').toString();
const signer = await openUserSigningKey(env);
const ledgerKey = parseVkey(await openUserLedger(machine.commonDir, env, systemClock).vkey());

const exported = JSON.parse(formatTrustedRoot([ledgerKey]));

/**
 * Unmodified sigstore verification with trust in our key, and in our ledger by the root that `writ ledger
 * export-trusted-root` writes.
 */
function verifyWithSigstore(bundleText: string, trustedRoot: unknown = exported, tlogThreshold = 1): void {
  const trust = toTrustMaterial(TrustedRoot.fromJSON(trustedRoot), {
    [signer.keyId]: { rawBytes: toSpki(createPublicKey(signer.publicKeyPem)), keyDetails: 5 },
  });
  const verifier = new Verifier(trust, { tlogThreshold, ctlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundleText))));
}

/** Asserts that `@sigstore/bundle` reads and writes what matters of a bundle; it leaves out zeros and empty lists. */
function requireRead(t: Test, json: Loose, message: string): void {
  const { mediaType, verificationMaterial, dsseEnvelope } = bundleToJSON(bundleFromJSON(json)) as Loose;
  const { publicKey } = json.verificationMaterial;
  t.strictSame(
    [mediaType, dsseEnvelope, verificationMaterial.publicKey],
    [json.mediaType, json.dsseEnvelope, publicKey],
    message,
  );
}

t.test('the stock sigstore verifier accepts a bundle of writ with its ledger proof', async (t) => {
  t.doesNotThrow(() => verifyWithSigstore(text));
  const { proof } = parseBundle(Buffer.from(text));
  t.match(proof, { logIndex: 4, treeSize: 5 });
  t.ok((proof?.hashes.length ?? 0) > 0);
});

t.test('the stock sigstore libraries read and verify every bundle of a sealed run', async (t) => {
  const bundles = [...sealed.run].filter(([path]) => path.endsWith('.sigstore.json'));
  t.strictSame(bundles.map(([path]) => path).sort(), [
    'evidence-manifest.sigstore.json',
    'provenance.sigstore.json',
    'statements/decision.sigstore.json',
    'statements/test-result-unit.sigstore.json',
    'statements/vsa.sigstore.json',
  ]);
  for (const [path, bytes] of bundles) {
    const json = JSON.parse(String(bytes));
    requireRead(t, json, `${path} is unchanged by @sigstore/bundle`);
    // The statement and its provenance stand in the log; the others are bound by the manifest.
    const logged = path === 'provenance.sigstore.json' ? 1 : 0;
    t.doesNotThrow(() => verifyWithSigstore(String(bytes), exported, logged), path);
    const payload = Buffer.from(json.dsseEnvelope.payload, 'base64');
    payload[payload.length - 1] = 0x20;
    json.dsseEnvelope.payload = payload.toString('base64');
    t.throws(
      () => verifyWithSigstore(JSON.stringify(json), exported, logged),
      `${path} with another payload`,
    );
  }
});

t.test(
  'the stock sigstore libraries read and verify a statement that `writ attest sign` signs',
  async (t) => {
    const cwd = t.testdir({ 'statement.json': JSON.stringify(statement()) });
    const { code, out } = await runLine(['attest', 'sign', 'statement.json'], commands, { cwd, env });
    t.equal(code, 0);
    t.doesNotThrow(() => verifyWithSigstore(out, exported, 0));
    const json = JSON.parse(out);
    requireRead(t, json, 'the bundle is unchanged');
    const signature = Buffer.from(json.dsseEnvelope.signatures[0].sig, 'base64');
    signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
    json.dsseEnvelope.signatures[0].sig = signature.toString('base64');
    t.throws(() => verifyWithSigstore(JSON.stringify(json), exported, 0));
  },
);

t.test('the stock sigstore verifier rejects bundles with a changed signature, entry or proof', async (t) => {
  const bundle = parseBundle(Buffer.from(text));
  const { envelope, proof } = bundle;
  if (proof === undefined) throw new Error('no proof');
  const flipped = (bytes: Uint8Array): Buffer => {
    const copy = Buffer.from(bytes);
    copy[copy.length - 1] = (copy[copy.length - 1] ?? 0) ^ 1;
    return copy;
  };
  const cases = {
    payload: { envelope: { ...envelope, payload: flipped(envelope.payload) }, proof },
    signature: { envelope: { ...envelope, signature: flipped(envelope.signature) }, proof },
    'payload type': { envelope: { ...envelope, payloadType: 'text/plain' }, proof },
    entry: { envelope, proof: { ...proof, body: flipped(proof.body) } },
    path: { envelope, proof: { ...proof, hashes: proof.hashes.map(flipped) } },
    index: { envelope, proof: { ...proof, logIndex: 3 } },
    checkpoint: { envelope, proof: { ...proof, checkpoint: proof.checkpoint.replace('\n5\n', '\n6\n') } },
    'log id': { envelope, proof: { ...proof, logId: flipped(proof.logId) } },
    'no proof': { envelope, proof: undefined },
  };
  for (const [name, changed] of Object.entries(cases))
    t.throws(() => verifyWithSigstore(formatBundle(changed)), name);
});

t.test(
  'the exported trusted root trusts only this log and is unchanged by the sigstore library',
  async (t) => {
    t.strictSame(TrustedRoot.toJSON(TrustedRoot.fromJSON(exported)), exported);
    const stranger = generateKeyPairSync('ed25519').publicKey;
    for (const key of [ledgerKeyFor(ledgerKey.name, stranger), ledgerKeyFor('another/log', ledgerKey.key)])
      t.throws(() => verifyWithSigstore(text, JSON.parse(formatTrustedRoot([key]))), key.name);
    t.throws(() => verifyWithSigstore(text, JSON.parse(formatTrustedRoot([]))), 'a root without a log');
  },
);
