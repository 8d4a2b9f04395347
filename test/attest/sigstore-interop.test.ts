import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import t from 'tap';
import { formatBundle, parseBundle } from '../../attest/bundle/bundle.ts';
import { toSpki } from '../../attest/encoding/public-key.ts';
import { openUserSigningKey } from '../../attest/keys/user-keys.ts';
import { openUserLedger } from '../../attest/log/internal-ledger-source.ts';
import { ledgerKeyFor, parseVkey } from '../../attest/log/ledger-key.ts';
import { formatTrustedRoot } from '../../attest/log/trusted-root.ts';
import { systemClock } from '../../core/base/clock.ts';
import { makeMachine, removeMachines, sealRun } from './verify/sealed-run.ts';

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
function verifyWithSigstore(bundleText: string, trustedRoot: unknown = exported): void {
  const trust = toTrustMaterial(TrustedRoot.fromJSON(trustedRoot), {
    [signer.keyId]: { rawBytes: toSpki(createPublicKey(signer.publicKeyPem)), keyDetails: 5 },
  });
  const verifier = new Verifier(trust, { tlogThreshold: 1, ctlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundleText))));
}

t.test('the stock sigstore verifier accepts a bundle of writ with its ledger proof', async (t) => {
  t.doesNotThrow(() => verifyWithSigstore(text));
  const { proof } = parseBundle(Buffer.from(text));
  t.match(proof, { logIndex: 4, treeSize: 5 });
  t.ok((proof?.hashes.length ?? 0) > 0);
});

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
