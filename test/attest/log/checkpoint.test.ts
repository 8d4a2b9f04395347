import { createPublicKey } from 'node:crypto';
import t from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import {
  formatTlogProof,
  parseCheckpoint,
  parseTlogProof,
  signCheckpoint,
  verifyCheckpoint,
} from '../../../attest/log/checkpoint.ts';
import { ledgerKeyFor, parseNote, parseVkey } from '../../../attest/log/note.ts';

const signer = toSigner(generateKey('ed25519'), false);
const key = ledgerKeyFor('example.org/log', createPublicKey(signer.publicKeyPem));
const root = Buffer.alloc(32, 7);

t.test('the signed note example of C2SP verifies with its vkey', async (t) => {
  // Golang sumdb note test vector (the keys behind the C2SP format).
  const vkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const note =
    'If you think cryptography is the answer to your problem,\n' +
    "then you don't know what your problem is.\n" +
    '\n' +
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
  const { text, signatures } = parseNote(note);
  t.ok(text.endsWith('is.\n'));
  const { verify } = await import('node:crypto');
  const known = parseVkey(vkey);
  t.equal(known.name, 'PeterNeumann');
  t.equal(known.vkey, vkey);
  const [line] = signatures;
  t.ok(line && verify(null, Buffer.from(text), known.key, line.signature));
  t.ok(line && known.keyId.subarray(0, 4).equals(line.keyHint));
});

t.test('a signed checkpoint is read back as it was written', async (t) => {
  const signed = await signCheckpoint({ size: 12, root }, signer, key);
  t.match(verifyCheckpoint(signed.source, [key]), { origin: 'example.org/log', size: 12 });
  t.ok(parseCheckpoint(signed.source).root.equals(root));
});

t.test('a checkpoint with another key or name, a changed head or a wrong signature is refused', async (t) => {
  const { source } = await signCheckpoint({ size: 12, root }, signer, key);
  const stranger = ledgerKeyFor(
    'example.org/log',
    createPublicKey(toSigner(generateKey('ed25519'), false).publicKeyPem),
  );
  const renamed = ledgerKeyFor('example.org/other', key.key);
  const reason = (reason: string) => ({ code: 'VERIFY_REFUTED', detail: { reason } }) as unknown as Error;
  t.throws(() => verifyCheckpoint(source, []), reason('untrusted-log'));
  t.throws(() => verifyCheckpoint(source, [stranger]), reason('untrusted-log'));
  t.throws(() => verifyCheckpoint(source, [renamed]), reason('untrusted-log'));
  t.throws(() => verifyCheckpoint(source.replace('\n12\n', '\n13\n'), [key]), reason('bad-signature'));
  const line = source.slice(source.indexOf('—'));
  const bad = Buffer.concat([key.keyId.subarray(0, 4), Buffer.alloc(64)]).toString('base64');
  t.throws(() => verifyCheckpoint(`${source}— ${key.name} ${bad}\n`, [key]), reason('bad-signature'));
  const unknown = await signCheckpoint({ size: 12, root }, signer, renamed);
  t.ok(
    verifyCheckpoint(source + unknown.source.slice(unknown.source.indexOf('—')), [key]),
    'unknown signers are ignored',
  );
  const borrowed = unknown.source.slice(0, unknown.source.indexOf('—')) + line;
  t.throws(() => verifyCheckpoint(borrowed, [key, renamed]), reason('bad-signature'));
});

t.test('a known key of another name cannot sign for the origin of a log', async (t) => {
  const renamed = ledgerKeyFor('example.org/other', key.key);
  const text = `${key.name}\n12\n${root.toString('base64')}\n`;
  const signature = Buffer.from(await signer.sign(Buffer.from(text)));
  const blob = Buffer.concat([renamed.keyId.subarray(0, 4), signature]).toString('base64');
  const refused = { detail: { reason: 'untrusted-log' } } as unknown as Error;
  t.throws(() => verifyCheckpoint(`${text}\n— ${renamed.name} ${blob}\n`, [renamed]), refused);
  const { source } = await signCheckpoint({ size: 12, root }, signer, key);
  const misnamed = source.replace(`— ${key.name} `, '— example.org/other ');
  t.throws(() => verifyCheckpoint(misnamed, [key]), refused, 'a signature line that bears another name');
});

t.test('malformed checkpoints and keys are refused', async (t) => {
  const { source } = await signCheckpoint({ size: 12, root }, signer, key);
  const bad = { code: 'ATTESTATION_MALFORMED' };
  const base64 = root.toString('base64');
  const changes: readonly (readonly [string, string, string])[] = [
    ['a leading zero', '\n12\n', '\n012\n'],
    ['a negative size', '\n12\n', '\n-1\n'],
    ['a size beyond 2^53', '\n12\n', '\n9999999999999999\n'],
    ['a short root', base64, base64.slice(4)],
    ['padding bits', base64, `${base64.slice(0, -2)}${base64.at(-2) === 'c' ? 'd' : 'B'}=`],
    ['an empty origin', 'example.org/log\n12', '\n12'],
    ['a carriage return', '\n12\n', '\r\n12\n'],
    ['no signature', '— ', ''],
  ];
  for (const [name, from, to] of changes)
    t.throws(() => parseCheckpoint(source.replace(from, to)), bad, name);
  t.throws(() => parseCheckpoint(''), bad);
  const long = source.replace('\n\n', `\n${'x'.repeat(70_000)}\n\n`);
  t.throws(() => parseCheckpoint(long), bad, 'a note of 70,000 characters');
  t.throws(
    () => parseCheckpoint(source.replace('\n\n', '\nextension\u0007\n\n')),
    bad,
    'a control character',
  );
  t.ok(parseCheckpoint(source.replace('\n\n', '\nextension\n\n')), 'extension lines are allowed');
  t.throws(() => parseCheckpoint(source + '— a AAAAAAAA\n'.repeat(64)), bad, 'too many signatures');
  t.throws(
    () => parseVkey(key.vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+')),
    bad,
    'the hint of another key',
  );
  t.throws(() => parseVkey('nonsense'), bad);
  const { publicKeyPem } = toSigner(generateKey('ecdsa-p256-sha256'), false);
  t.throws(() => ledgerKeyFor('x', createPublicKey(publicKeyPem)), { code: 'KEY_UNUSABLE' });
});

t.test('a tlog-proof is read back as it was written, and other formats are refused', async (t) => {
  const { source } = await signCheckpoint({ size: 12, root }, signer, key);
  const proof = {
    origin: key.name,
    logIndex: 5,
    treeSize: 12,
    rootHash: root,
    hashes: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    checkpoint: source,
    body: Buffer.from('entry'),
  };
  const text = formatTlogProof(proof);
  t.ok(text.startsWith('c2sp.org/tlog-proof@v1\nextra '));
  const read = parseTlogProof(Buffer.from(text));
  t.match(read, { index: 5, checkpoint: source });
  t.same(read.hashes, proof.hashes);
  t.same(read.body, proof.body);
  const without = parseTlogProof(Buffer.from(text.replace(/extra .*\n/, '')));
  t.equal(without.body, undefined);
  const bad = { code: 'ATTESTATION_MALFORMED' };
  for (const [from, to] of [
    ['@v1', '@v2'],
    ['index 5', 'index 05'],
    ['index 5', 'index'],
    ['extra ', 'extra !'],
    ['AQEB', 'AQE'],
    ['\n\n', '\n'],
  ] as const) {
    t.throws(() => parseTlogProof(Buffer.from(text.replace(from, to))), bad, `${from} to ${to}`);
  }
  t.throws(
    () => parseTlogProof(Buffer.from(text.replace('extra ', `extra ${'AAAA'.repeat(75_000)}`))),
    bad,
    'huge',
  );
  const long = text.replace('index 5\n', `index 5\n${`${root.toString('base64')}\n`.repeat(64)}`);
  t.throws(() => parseTlogProof(Buffer.from(long)), bad);
});
