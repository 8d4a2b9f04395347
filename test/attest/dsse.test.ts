import { createPublicKey } from 'node:crypto';
import t from 'tap';
import { formatBundle, parseBundle, parseTlogEntry } from '../../attest/bundle/bundle.ts';
import {
  parseEnvelope,
  preAuthEncoding,
  signEnvelope,
  toDsseEnvelope,
  verifyEnvelope,
} from '../../attest/encoding/dsse.ts';
import { parseBase64 } from '../../attest/encoding/expect-json.ts';
import { parsePublicKey } from '../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../attest/keys/key-signer.ts';

t.test('the pre-authentication encoding matches the example of the DSSE specification', async (t) => {
  const encoded = preAuthEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
  t.equal(encoded.toString(), 'DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  t.equal(preAuthEncoding('ü', Buffer.from('é')).toString(), 'DSSEv1 2 ü 2 é', 'lengths are octets');
});

t.test('a signature verifies only with its own key, for both algorithms', async (t) => {
  for (const algorithm of ['ecdsa-p256-sha256', 'ed25519'] as const) {
    const signer = toSigner(generateKey(algorithm), false);
    const envelope = await signEnvelope('a/b', Buffer.from('{}'), signer);
    const key = createPublicKey(signer.publicKeyPem);
    t.equal(verifyEnvelope(envelope, key).toString(), '{}');
    const other = createPublicKey(toSigner(generateKey(algorithm), false).publicKeyPem);
    const refused = { code: 'VERIFY_REFUTED', detail: { reason: 'bad-signature' } } as unknown as Error;
    t.throws(() => verifyEnvelope(envelope, other), refused);
    t.throws(() => verifyEnvelope({ ...envelope, payload: Buffer.from('{ }') }, key), refused);
    t.throws(() => verifyEnvelope({ ...envelope, payloadType: 'a/c' }, key), refused);
    t.throws(() => verifyEnvelope({ ...envelope, signature: Buffer.alloc(8) }, key), refused);
  }
});

t.test('a failing signer is SIGNER_FAILED with its cause', async (t) => {
  const signer = {
    ...toSigner(generateKey('ed25519'), false),
    sign: () => Promise.reject(new Error('no token')),
  };
  await t.rejects(signEnvelope('a/b', Buffer.from('{}'), signer), {
    code: 'SIGNER_FAILED',
    cause: { message: 'no token' },
  });
});

t.test('`parseBase64` accepts only strict base64', async (t) => {
  for (const text of ['', 'YQ==', 'YWI=', 'YWJj', '-_8=', '-_8', '+/8=']) t.ok(parseBase64(text), text);
  for (const text of ['YQ', 'YQ=', 'YR==', 'YQ==\n', ' YQ==', 'Y Q=', '-/8=', 'YQ===', 'é']) {
    t.equal(parseBase64(text), undefined, JSON.stringify(text));
  }
});

t.test('an envelope of writ has exactly one signature', async (t) => {
  const signer = toSigner(generateKey('ed25519'), false);
  const envelope = await signEnvelope('a/b', Buffer.from('{}'), signer);
  const json = toDsseEnvelope(envelope);
  t.same(parseEnvelope(json, ''), envelope);
  for (const signatures of [[], [...json.signatures, ...json.signatures]])
    t.throws(() => parseEnvelope({ ...json, signatures }, ''), { code: 'ATTESTATION_MALFORMED' });
});

t.test('a bundle is parsed back as it was written, and other forms are refused', async (t) => {
  const signer = toSigner(generateKey('ecdsa-p256-sha256'), false);
  const envelope = await signEnvelope('a/b', Buffer.from('{}'), signer);
  const text = formatBundle({ envelope, proof: undefined });
  t.same(parseBundle(Buffer.from(text)), { envelope, proof: undefined });
  const bad = { code: 'ATTESTATION_MALFORMED' };
  const edit = (change: (bundle: Record<string, Record<string, unknown>>) => void): string => {
    const bundle = JSON.parse(text);
    change(bundle);
    return JSON.stringify(bundle);
  };
  const signature = JSON.parse(text).dsseEnvelope.signatures[0];
  const cases: Readonly<Record<string, string>> = {
    'cut short': text.slice(0, -5),
    'with something after it': `${text}{}`,
    'with a member twice': text.replace('"mediaType"', '"mediaType":"x","mediaType"'),
    'of another version': text.replace('v0.3', 'v0.2'),
    'with an unknown member': edit((b) => Object.assign(b, { extra: 1 })),
    'with a certificate': edit((b) => Object.assign(b.verificationMaterial ?? {}, { certificate: {} })),
    'without signature': edit((b) => Object.assign(b.dsseEnvelope ?? {}, { signatures: [] })),
    'with a signature twice': edit((b) =>
      Object.assign(b.dsseEnvelope ?? {}, { signatures: [signature, signature] }),
    ),
    'with a hint of another key': edit((b) =>
      Object.assign(b.verificationMaterial ?? {}, { publicKey: { hint: '0'.repeat(64) } }),
    ),
    'with a payload that is not base64': edit((b) => Object.assign(b.dsseEnvelope ?? {}, { payload: '{}' })),
    'with an empty payload': edit((b) => Object.assign(b.dsseEnvelope ?? {}, { payload: '' })),
    'that is an array': '[]',
    'nested too deep': `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
    'of 5 MiB': `"${'x'.repeat(5 * 1024 * 1024)}"`,
    'that is empty': '',
  };
  for (const [name, given] of Object.entries(cases))
    t.throws(() => parseBundle(Buffer.from(given)), bad, `a bundle ${name}`);
});

t.test('a log entry is parsed only in its strict form', async (t) => {
  const text = (value: string): string => Buffer.from(value).toString('base64');
  const entry = {
    logIndex: '1',
    logId: { keyId: text('x'.repeat(32)) },
    kindVersion: { kind: 'hashedrekord', version: '0.0.2' },
    integratedTime: '0',
    inclusionProof: {
      logIndex: '1',
      rootHash: text('r'.repeat(32)),
      treeSize: '2',
      hashes: [text('h'.repeat(32))],
      checkpoint: { envelope: 'note' },
    },
    canonicalizedBody: text('{"a":1}?'),
  };
  t.match(parseTlogEntry(entry, ''), {
    logIndex: 1,
    treeSize: 2,
    rootHash: Buffer.from('r'.repeat(32)),
    hashes: [Buffer.from('h'.repeat(32))],
    checkpoint: 'note',
    body: Buffer.from('{"a":1}?'),
  });
  const { inclusionProof, logId: _, ...without } = entry;
  const others: Readonly<Record<string, unknown>> = {
    'a member more': { ...entry, more: 1 },
    'a member less': without,
    'another kind': { ...entry, kindVersion: { kind: 'intoto', version: '0.0.2' } },
    'a promise that its kind does not make': {
      ...entry,
      inclusionPromise: { signedEntryTimestamp: text('p') },
    },
    'another index': { ...entry, logIndex: '0' },
    'a number in another spelling': { ...entry, inclusionProof: { ...inclusionProof, treeSize: '02' } },
    'a size below 0': { ...entry, inclusionProof: { ...inclusionProof, treeSize: '-2' } },
    'an index below 0': { ...entry, logIndex: '-1', inclusionProof: { ...inclusionProof, logIndex: '-1' } },
    'a promise of a time below 0': {
      ...entry,
      kindVersion: { kind: 'hashedrekord', version: '0.0.1' },
      integratedTime: '-1',
      inclusionPromise: { signedEntryTimestamp: text('p') },
    },
    'base64 in another spelling': { ...entry, canonicalizedBody: text('{"a":1}?').replace(/=*$/, '') },
    'a time': { ...entry, integratedTime: '1' },
  };
  for (const [name, value] of Object.entries(others))
    t.throws(() => parseTlogEntry(value, ''), { code: 'ATTESTATION_MALFORMED' }, name);
});

t.test('a public key is parsed only from a public key PEM', async (t) => {
  const key = generateKey('ecdsa-p256-sha256');
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  t.throws(() => parsePublicKey(pem), { code: 'KEY_UNUSABLE' }, 'not from a private key');
  t.throws(() => parsePublicKey('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'), {
    code: 'KEY_UNUSABLE',
  });
  t.ok(parsePublicKey(toSigner(key, false).publicKeyPem));
});
