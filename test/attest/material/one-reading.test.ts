/*
 * A bundle is read once, and everybody judges what that reading gave: a second reading of the same bytes, by other
 * code, could give something else.
 */

import { generateKeyPairSync } from 'node:crypto';
import * as forms from '@sigstore/bundle';
import t from 'tap';
import { parseAnyBundle } from '../../../attest/bundle/any-bundle.ts';
import { runFiles } from '../../../attest/verify/evidence-source.ts';
import { toSigstoreBundle } from '../../../attest/verify/verify-with-sigstore.ts';
import { makeMachine, removeMachines, sealRun, verifyAs } from '../verify/sealed-run.ts';
import { artifact, type Loose, verifyStranger } from '../verify/strangers.ts';
import { believing, edited, makeFoundry } from './foundry.ts';

t.teardown(removeMachines);

const foundry = await makeFoundry();
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const bytesOf = (bundle: Loose) => Buffer.from(JSON.stringify(bundle));
const genuine: Readonly<Record<string, Loose>> = {
  'by certificate': await foundry.make(),
  'of version 0.1': await foundry.make({ version: '0.1' }),
  'of version 0.2': await foundry.make({ version: '0.2' }),
  'with a time stamp': await foundry.make({ stamped: true }),
  'with an entry of kind dsse': await foundry.make({ entry: 'dsse' }),
  'with an entry of Rekor v2': await foundry.make({ entry: 'v2', stamped: true }),
  'without entry': await foundry.make({ entry: 'none' }),
  'of a message': await foundry.make({ message: artifact }),
  'by key': await foundry.make({ key: { privateKey, hint: 'a' } }),
};

/** How often a text was decoded out of bytes, and parsed, while `work` ran. */
async function countReadings(text: string, work: () => Promise<unknown>) {
  const { decode } = TextDecoder.prototype;
  const { parse } = JSON;
  const count = { decoded: 0, parsed: 0 };
  TextDecoder.prototype.decode = function (...given) {
    const found = decode.apply(this, given);
    if (found === text) count.decoded += 1;
    return found;
  };
  JSON.parse = (given, reviver) => {
    if (given === text) count.parsed += 1;
    return parse(given, reviver);
  };
  try {
    await work();
  } finally {
    TextDecoder.prototype.decode = decode;
    JSON.parse = parse;
  }
  return count;
}

t.test('the bytes of a bundle are decoded only once per verification', async (t) => {
  const bundle = genuine['by certificate'];
  const anchors = believing(foundry.root);
  const count = await countReadings(JSON.stringify(bundle), async () => {
    const { verified } = await verifyStranger(bundle, {}, anchors);
    t.ok(verified);
  });
  t.equal(count.decoded, 1);
  t.ok(count.parsed <= 1);
});

t.test('the bytes of the seal of a run are decoded only once per verification', async (t) => {
  const machine = makeMachine();
  const sealed = await sealRun(machine);
  const text = String(sealed.run.get(runFiles.bundle));
  const count = await countReadings(text, async () => {
    const { verified } = await verifyAs(sealed, { machine });
    t.ok(verified);
  });
  t.equal(count.decoded, 1);
  t.ok(count.parsed <= 1);
});

t.test('genuine bundles are converted to the same values that the sigstore library parses', async (t) => {
  for (const [name, bundle] of Object.entries(genuine)) {
    const ours = toSigstoreBundle(parseAnyBundle(bytesOf(bundle)), forms);
    const { timestampVerificationData = { rfc3161Timestamps: [] }, ...material } =
      forms.bundleFromJSON(bundle).verificationMaterial;
    t.strictSame(ours.content, forms.bundleFromJSON(bundle).content, name);
    t.strictSame(ours.verificationMaterial, { ...material, timestampVerificationData }, name);
    t.equal(ours.mediaType, bundle.mediaType, name);
  }
});

t.test('a value that the sigstore library would guess is malformed', async (t) => {
  const first = genuine['by certificate'];
  const bad: Readonly<Record<string, (entry: Loose) => unknown>> = {
    'octets with white space': (entry) => {
      entry.canonicalizedBody = `${entry.canonicalizedBody}\n`;
    },
    'octets that are none': (entry) => {
      entry.inclusionProof.rootHash = '{}';
    },
    'an index that is a list': (entry) => {
      entry.logIndex = ['0'];
    },
    'a kind that is a number': (entry) => {
      entry.kindVersion.kind = 1;
    },
    'hashes that are no list': (entry) => {
      entry.inclusionProof.hashes = {};
    },
  };
  for (const [name, edit] of Object.entries(bad)) {
    const changed = edited(first, (copy) => edit(copy.verificationMaterial.tlogEntries[0]));
    t.throws(
      () => toSigstoreBundle(parseAnyBundle(bytesOf(changed)), forms),
      { code: 'ATTESTATION_MALFORMED' },
      name,
    );
    const { checks, verified } = await verifyStranger(changed, {}, believing(foundry.root));
    t.notOk(verified, name);
    t.match(
      checks.filter(({ status }) => status === 'failed'),
      [{ id: 'signature', code: 'malformed' }],
      name,
    );
  }
});

t.test('a bare envelope is key-signed, and its first signature names the key', (t) => {
  const signatures = [
    { keyid: 'one', sig: 'AAAA' },
    { keyid: 'two', sig: 'AAAB' },
  ];
  const read = parseAnyBundle(
    Buffer.from(JSON.stringify({ payloadType: 'application/vnd.in-toto+json', payload: 'e30=', signatures })),
  );
  t.match(read, { material: { kind: 'key', hint: 'one' }, entries: [], timestamps: [] });
  // A member that another form has makes it no other form.
  const more = { payloadType: 'a/b', payload: 'e30=', signatures, signed: {}, bundle_url: 'https://x' };
  t.match(parseAnyBundle(Buffer.from(JSON.stringify(more))), { material: { kind: 'key' } });
  t.end();
});
