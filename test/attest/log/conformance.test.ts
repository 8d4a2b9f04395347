import t, { type Test } from 'tap';
import { attestPlugin } from '../../../attest/attestor/plugin.ts';
import { inTotoPayloadType, signEnvelope } from '../../../attest/encoding/dsse.ts';
import { parsePublicKey } from '../../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { buildLogEntry } from '../../../attest/log/log-entry.ts';
import { leafHash } from '../../../attest/log/merkle/hash.ts';
import { rootFromInclusion } from '../../../attest/log/merkle/verify-inclusion.ts';
import type { SealingPlace } from '../../../core/contract/sealing-place.ts';
import { createEngine } from '../../../core/kernel/engine.ts';
import { contractRows } from '../../../engine/spec/contract-rows.ts';
import { sealingPlace } from '../sealing-place.ts';
import { serveAuthorities } from '../signer/authorities.ts';

/** Every log, by its name in the slot, and what it is opened with. */
const places: Readonly<Record<string, (t: Test, home: string) => Promise<SealingPlace> | SealingPlace>> = {
  'internal-ledger': (_, home) => sealingPlace(home),
  'public-log': async (t) => (await serveAuthorities(t)).place(),
  none: (_, home) => sealingPlace(home, { logMode: 'none' }),
};

async function engineOf(home: string) {
  return createEngine({
    plugins: [attestPlugin({ env: { HOME: home }, ephemeralKey: false })],
    rows: contractRows,
    report: () => {},
  });
}

t.test('every log in the slot is held to what a log promises', async (t) => {
  await using engine = await engineOf(t.testdir());
  t.strictSame([...engine.slots.log.names].sort(), Object.keys(places).sort());
});

for (const [name, placeOf] of Object.entries(places)) {
  t.test(`${name}: an entry is proven to stand in the log, or there is no log`, async (t) => {
    const home = t.testdir();
    const signer = toSigner(generateKey('ecdsa-p256-sha256'), false);
    await using engine = await engineOf(home);
    const place = await placeOf(t, home);
    const log = await (await engine.slots.log.pick(place.logMode)).open(place, signer);
    t.equal(place.logMode, name);
    if (log === undefined) {
      t.equal(name, 'none', 'nobody else has none');
      return;
    }
    t.equal(log.mode, name);
    t.equal(await log.size(), 0);
    t.equal(
      (await log.vkey()) === undefined,
      log.trustedRoot !== undefined,
      'a verifier has one thing to pin',
    );
    const key = parsePublicKey(signer.publicKeyPem);
    for (const text of ['{"n":1}', '{"n":2}']) {
      const body = buildLogEntry(await signEnvelope(inTotoPayloadType, Buffer.from(text), signer), key);
      const proof = await log.append(body);
      const { logIndex, treeSize, hashes, rootHash } = proof;
      const leaf = leafHash(proof.body);
      t.strictSame(rootFromInclusion(logIndex, treeSize, leaf, hashes), Buffer.from(rootHash));
      t.match(proof.checkpoint, `${proof.origin}\n`);
      t.not(
        rootFromInclusion(logIndex, treeSize, leafHash(Buffer.from('other')), hashes)?.equals(rootHash),
        true,
      );
    }
  });
}
