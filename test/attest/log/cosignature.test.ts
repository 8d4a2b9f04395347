import { createPublicKey } from 'node:crypto';
import { rmSync } from 'node:fs';
import t from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import {
  formatTlogProof,
  parseTlogProof,
  signCheckpoint,
  verifyCheckpoint,
} from '../../../attest/log/checkpoint.ts';
import { ledgerKeyFor, parseVkey, parseWitnessVkey } from '../../../attest/log/note.ts';
import { parseTlogPolicy, verifyByPolicy, verifyCosignatures } from '../../../attest/log/witness-policy.ts';
import { makePlace, openLedger } from './ledger-fixture.ts';
import { makeWitness } from './witness.ts';

const signer = toSigner(generateKey('ed25519'), false);
const log = ledgerKeyFor('example.org/log', createPublicKey(signer.publicKeyPem));
const { source } = await signCheckpoint({ size: 12, root: Buffer.alloc(32, 7) }, signer, log);
const [one, two, three] = ['w1.example', 'w2.example', 'w3.example'].map((name) => makeWitness(name)) as [
  ReturnType<typeof makeWitness>,
  ReturnType<typeof makeWitness>,
  ReturnType<typeof makeWitness>,
];
const known = [one.key, two.key];
const refused = (reason: string) => ({ code: 'VERIFY_REFUTED', detail: { reason } }) as unknown as Error;

t.test('the cosignature example of C2SP has the expected layout', async (t) => {
  const line =
    'jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==';
  const blob = Buffer.from(line, 'base64');
  t.equal(blob.length, 4 + 8 + 64);
  t.equal(blob.readBigUInt64BE(4), 1679315147n);
});

t.test('cosignatures of known witnesses are read with their time, and others are ignored', async (t) => {
  const note = source + one.line(source, 1679315147n) + three.line(source) + one.line(source, 9n);
  const found = verifyCosignatures(note, known);
  t.equal(found.length, 1, 'one for each witness');
  t.equal(found[0]?.atSeconds, 1679315147n, 'its latest');
  t.equal(found[0]?.witness.name, 'w1.example');
  t.match(verifyCheckpoint(note, [log]), { size: 12 }, 'the log’s own signature holds as before');
  t.same(verifyCosignatures(source, known), []);
});

t.test('a cosignature that is dated later than now does not count', async (t) => {
  const nowMs = 1_700_000_000_000;
  const count = (...lines: readonly string[]) => verifyCosignatures(source + lines.join(''), known, nowMs);
  const [year, allowed] = [1_731_536_000n, 1_700_000_300n];
  t.same(count(one.line(source, year)), []);
  t.same(count(one.line(source, 2n ** 63n - 1n)), []);
  t.same(count(one.line(source, allowed + 1n)), [], 'a second beyond the allowance');
  t.match(count(one.line(source, allowed)), [{ atSeconds: allowed }], 'clocks may differ by five minutes');
  t.match(count(one.line(source, year), one.line(source, 9n)), [{ atSeconds: 9n }], 'an earlier one counts');
  t.throws(
    () => count(one.line(source.replace('\n12\n', '\n13\n'), year)),
    refused('bad-signature'),
    'a wrong signature is wrong at any time',
  );
  const policy = parseTlogPolicy(
    Buffer.from(
      `log ${log.vkey}\nwitness one ${one.key.vkey}\nwitness two ${two.key.vkey}\ngroup all all one two\nquorum all\n`,
    ),
  );
  const note = source + one.line(source, year) + two.line(source, 9n);
  t.throws(() => verifyByPolicy(note, policy, undefined, nowMs), {
    code: 'VERIFY_REFUTED',
    detail: { reason: 'no-quorum', signed: ['w2.example'], later_than_now: ['w1.example'] },
  } as unknown as Error);
  t.equal(verifyByPolicy(note, policy, undefined, Number(year) * 1000).cosignatures.length, 2);
});

t.test('a wrong signature of a known witness makes the note invalid', async (t) => {
  const good = one.line(source);
  const changed = (edit: (blob: Buffer) => Buffer): string => {
    const blob = Buffer.from(good.split(' ')[2] ?? '', 'base64');
    return `— w1.example ${edit(blob).toString('base64')}\n`;
  };
  const flip = (at: number) =>
    changed((blob) => {
      blob[at] = (blob[at] ?? 0) ^ 1;
      return blob;
    });
  const other = source.replace('\n12\n', '\n13\n');
  const cases: Readonly<Record<string, string>> = {
    'another time': flip(11),
    'a time beyond 2^63, validly signed': one.line(source, 2n ** 63n),
    'too short for a time': changed((blob) => blob.subarray(0, 9)),
    'a flipped bit': flip(40),
    'an octet less': changed((blob) => blob.subarray(0, -1)),
    'an octet more': changed((blob) => Buffer.concat([blob, Buffer.of(0)])),
    'no time': changed((blob) => Buffer.concat([blob.subarray(0, 4), blob.subarray(12)])),
    'of another checkpoint': one.line(other),
  };
  for (const [name, line] of Object.entries(cases)) {
    t.throws(() => verifyCosignatures(source + line, known), refused('bad-signature'), name);
    t.throws(
      () => verifyCosignatures(source + good + line, known),
      refused('bad-signature'),
      `${name} beside a good one`,
    );
    t.same(verifyCosignatures(source + line, [two.key]), [], `${name}: not of a witness we know`);
  }
});

t.test('a log signature is not a cosignature, and a cosignature is not a log signature', async (t) => {
  const secret = generateKey('ed25519');
  const both = ledgerKeyFor('example.org/both', createPublicKey(secret));
  const witness = makeWitness('example.org/both', secret);
  const own = await signCheckpoint({ size: 1, root: Buffer.alloc(32) }, toSigner(secret, false), both);
  t.same(verifyCosignatures(own.source, [witness.key]), []);
  const text = own.source.slice(0, own.source.indexOf('—'));
  t.throws(() => verifyCheckpoint(text + witness.line(own.source), [both]), refused('untrusted-log'));
  const bad = { code: 'ATTESTATION_MALFORMED' };
  t.throws(() => parseWitnessVkey(both.vkey), bad);
  t.throws(() => parseVkey(witness.key.vkey), bad);
  t.equal(parseWitnessVkey(witness.key.vkey).vkey, witness.key.vkey);
});

function policy(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join('\n')}\n`);
}
const listed = [
  '# the witnesses',
  `log ${log.vkey} https://example.org/log`,
  `witness W1 ${one.key.vkey}`,
  `\twitness  W2   ${two.key.vkey} https://w2.example `,
  `witness W3 ${three.key.vkey}`,
  '',
];

t.test('a quorum counts witnesses and groups', async (t) => {
  const signedBy = (signers: string, ...some: readonly string[]) =>
    some.filter((one) => signers.includes(one)).length;
  const rules: readonly (readonly [readonly string[], (signers: string) => boolean])[] = [
    [['quorum none'], () => true],
    [['quorum W2'], (by) => by.includes('2')],
    [['group g any W1 W2', 'quorum g'], (by) => signedBy(by, '1', '2') >= 1],
    [['group g all W1 W2', 'quorum g'], (by) => signedBy(by, '1', '2') === 2],
    [['group g 2 W1 W2 W3', 'quorum g'], (by) => by.length >= 2],
    [['group g any W1 W2', 'group h all g W3', 'quorum h'], (by) => /[12].*3/.test(by)],
  ];
  const all = ['', '1', '2', '3', '12', '13', '23', '123'];
  for (const [lines, enough] of rules) {
    const parsed = parseTlogPolicy(policy(...listed, ...lines));
    for (const signers of all) {
      const note = [...signers].reduce(
        (text, n) => text + [one, two, three][Number(n) - 1]?.line(source),
        source,
      );
      const name = `${lines.join('; ')}: ${signers}`;
      if (enough(signers)) {
        t.equal(verifyByPolicy(note, parsed).cosignatures.length, signers.length, name);
      } else t.throws(() => verifyByPolicy(note, parsed), refused('no-quorum'), name);
    }
  }
});

t.test('one witness counts once, and a log must be named by the policy', async (t) => {
  const parsed = parseTlogPolicy(policy(...listed, 'group g 2 W1 W2 W3', 'quorum g'));
  const twice = source + one.line(source, 1n) + one.line(source, 2n);
  t.throws(() => verifyByPolicy(twice, parsed), refused('no-quorum'));
  const without = parseTlogPolicy(policy('quorum none'));
  t.throws(() => verifyByPolicy(source, without), refused('untrusted-log'), 'no log: nothing is believed');
  t.match(verifyByPolicy(source, without, [log]), { checkpoint: { size: 12 } }, 'known from elsewhere');
  const stranger = toSigner(generateKey('ed25519'), false);
  const theirs = ledgerKeyFor(log.name, createPublicKey(stranger.publicKeyPem));
  const forged = await signCheckpoint({ size: 12, root: Buffer.alloc(32, 8) }, stranger, theirs);
  const note = forged.source + one.line(forged.source) + two.line(forged.source);
  t.throws(() => verifyByPolicy(note, parsed), refused('untrusted-log'), 'witnesses alone make no log');
});

t.test('a malformed policy is refused as a whole', async (t) => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'no quorum': [],
    'two quorums': ['quorum W1', 'quorum W1'],
    'a quorum of nobody': ['quorum W9'],
    'a quorum defined below': ['quorum g', 'group g any W1'],
    'a group of itself': ['group g any g', 'quorum g'],
    'a group of nobody': ['group g any', 'quorum W1'],
    'a group of none': ['group g any none', 'quorum W1'],
    'a threshold of zero': ['group g 0 W1', 'quorum g'],
    'a threshold too high': ['group g 3 W1 W2', 'quorum g'],
    'a threshold with a sign': ['group g +1 W1 W2', 'quorum g'],
    'a member twice': ['group g 2 W1 W1', 'quorum g'],
    'a member of two groups': ['group g any W1', 'group h all g W1', 'quorum h'],
    'a name taken': ['group W1 any W2', 'quorum W1'],
    'a name reserved': ['group none any W2', 'quorum none'],
    'a witness twice': [`witness W4 ${one.key.vkey}`, 'quorum W1'],
    'a log twice': [`log ${log.vkey}`, 'quorum W1'],
    'a log as a witness': [`witness W4 ${log.vkey}`, 'quorum W4'],
    'a witness as a log': [`log ${one.key.vkey}`, 'quorum W1'],
    'a word it does not know': ['witnesses W1', 'quorum W1'],
    'a control character': ['quorum\u000bW1'],
    'a carriage return': ['quorum W1\r'],
  };
  t.ok(parseTlogPolicy(policy(...listed, 'quorum W1')));
  for (const [name, lines] of Object.entries(cases))
    t.throws(() => parseTlogPolicy(policy(...listed, ...lines)), { code: 'ATTESTATION_MALFORMED' }, name);
  t.throws(() => parseTlogPolicy(Buffer.alloc(300_000, '#')), { code: 'ATTESTATION_MALFORMED' }, 'huge');
});

t.test('a ledger accepts its cosigned checkpoint, and later proofs carry the cosignatures', async (t) => {
  const place = makePlace();
  t.teardown(() => rmSync(place.root, { recursive: true, force: true }));
  const ledger = openLedger(place);
  await t.rejects(ledger.cosign(source, known), { code: 'LEDGER_MISSING' });
  await ledger.append(Buffer.from('a'));
  const early = (await ledger.head())?.source ?? '';
  await ledger.append(Buffer.from('b'));
  const head = (await ledger.head())?.source ?? '';
  await t.rejects(ledger.cosign(head, known), refused('not-cosigned'));
  await t.rejects(ledger.cosign(head + three.line(head), known), refused('not-cosigned'), 'not one of ours');
  await t.rejects(ledger.cosign(head + one.line(early), known), refused('bad-signature'));
  await t.rejects(ledger.cosign(early + one.line(early), known), { code: 'LOG_FAILED' }, 'the log has grown');
  const bare = head.slice(0, head.indexOf('—'));
  await t.rejects(
    ledger.cosign(bare + one.line(head), known),
    { code: 'LEDGER_CORRUPT' },
    'without the log’s signature',
  );
  t.equal((await ledger.head())?.source, head, 'nothing of it was taken');

  await ledger.cosign(head + three.line(head) + one.line(head), known);
  await ledger.cosign(head + two.line(head, 5n), known);
  await ledger.cosign(head + two.line(head, 6n), known);
  const proof = parseTlogProof(Buffer.from(formatTlogProof(await ledger.prove(0))));
  const signed = verifyCosignatures(proof.checkpoint, [...known, three.key]);
  t.same(
    signed.map(({ witness, atSeconds }) => [witness.name, atSeconds]),
    [
      ['w1.example', 1_700_000_000n],
      ['w2.example', 6n],
    ],
    'those that were verified, once each',
  );
  const parsed = parseTlogPolicy(
    policy(`log ${await ledger.vkey()}`, ...listed.slice(2), 'group g 2 W1 W2 W3', 'quorum g'),
  );
  t.match(verifyByPolicy(proof.checkpoint, parsed), { checkpoint: { size: 2 } });
  await ledger.append(Buffer.from('c'));
  const later = (await ledger.head())?.source ?? '';
  t.throws(
    () => verifyByPolicy(later, parsed),
    refused('no-quorum'),
    'a new head is for witnesses to see anew',
  );
});
