import t from 'tap';
import { redact } from '../../../readers/sensitive/redact.ts';
import { Redactor } from '../../../readers/sensitive/redactor.ts';
import { long } from '../../rooms/long.ts';
import { inventedSecrets, privateKey } from './secrets/invented-secrets.ts';

const key = Buffer.alloc(32, 7);
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const npmToken = inventedSecrets.find(([rule]) => rule === 'npm-token')?.[1] ?? '';
const options = { key, classes: new Set(['secrets'] as const), words: {} };
const text = (value: string) => redact(Buffer.from(value), options);
const show = (value: string) => Buffer.from(text(value).bytes).toString();

function inPieces(value: Buffer, size: () => number): { bytes: Buffer; redactor: Redactor } {
  const redactor = new Redactor(options);
  const parts: Buffer[] = [];
  for (let from = 0; from < value.length; ) {
    const end = Math.min(value.length, from + size());
    parts.push(redactor.write(value.subarray(from, end)));
    from = end;
  }
  parts.push(redactor.end());
  return { bytes: Buffer.concat(parts), redactor };
}

t.test('redacts a value of every known format', async (t) => {
  for (const [rule, value] of inventedSecrets) {
    const { bytes, redactions } = text(`before ${value} after`);
    const left = Buffer.from(bytes).toString();
    t.match(left, /^before .*\[redacted:secrets:[a-z-]+\].* after$/s, rule);
    t.notOk(left.includes(value.slice(-12)), rule);
    t.ok(redactions.length > 0, rule);
  }
});

t.test('redacts a secret at the end without a newline', async (t) => {
  t.equal(show(`token ${token}`), 'token [redacted:secrets:github-token]');
});

t.test('returns bytes without a secret unchanged', async (t) => {
  const bytes = Buffer.from([0, 255, 128, 10, 65]);
  const answer = redact(bytes, options);
  t.equal(answer.bytes, bytes);
  t.same(answer.redactions, []);
});

t.test('keeps bytes around a secret unchanged in any encoding', async (t) => {
  const around = Buffer.from([0, 255, 254, 128, 10]);
  const { bytes } = redact(Buffer.concat([around, Buffer.from(` ${token} `), around]), options);
  t.same(
    Buffer.from(bytes),
    Buffer.concat([around, Buffer.from(' [redacted:secrets:github-token] '), around]),
  );
});

t.test('replaces a multi-line private key with one mark', async (t) => {
  t.equal(show(`a\n${privateKey}\nb\n`), 'a\n[redacted:secrets:private-key]\nb\n');
  t.equal(
    show(`{"key":${JSON.stringify(privateKey)},"a":1}`),
    '{"key":"[redacted:secrets:private-key]","a":1}',
  );
});

t.test('removes overlapping secrets completely without remains', async (t) => {
  const left = show(`Authorization: Bearer ${token}${npmToken}.`);
  t.notOk(left.includes(token.slice(-6)) || left.includes(npmToken.slice(-6)), left);
  const inUrl = show(`https://user:${token}@host/`);
  t.notOk(inUrl.includes(token.slice(4, 12)), inUrl);
});

t.test('equal secrets share a digest, and the digest depends on the key', async (t) => {
  const other = token.replace('ghp_q', 'ghp_z');
  const { redactions } = text(`${token} ${token} ${other}`);
  t.match(redactions, [{ rule: 'github-token', count: 3 }]);
  t.equal(redactions[0]?.digests.length, 2);
  const elsewhere = redact(Buffer.from(token), { ...options, key: Buffer.alloc(32, 8) }).redactions;
  t.notOk(redactions[0]?.digests.includes(elsewhere[0]?.digests[0] ?? ''));
  t.notOk(JSON.stringify(redactions).includes(token.slice(4, 20)));
});

t.test('the result does not depend on where the bytes are cut', async (t) => {
  const filler = 'a line of a log that says nothing in particular\n'.repeat(300);
  const parts = inventedSecrets.flatMap(([, value]) => [filler, value, '\n', value, value, ' ']);
  const whole = Buffer.from(parts.join('').repeat(3));
  t.ok(whole.length > 2 * 1024 * 1024, 'longer than two windows');
  const expected = Buffer.from(redact(whole, options).bytes);
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed;
  };
  for (const size of [() => 65_536, () => 1 + (random() % 200_000), () => 1_048_577, () => whole.length]) {
    t.ok(inPieces(whole, size).bytes.equals(expected));
  }
});

t.test('redacts a secret across the edge of a window', async (t) => {
  const window = 1024 * 1024;
  for (const offset of [-40, -20, -1, 0]) {
    for (const distance of [0, 64 * 1024]) {
      const before = Buffer.alloc(window - distance + offset, 'x ');
      const bytes = Buffer.concat([before, Buffer.from(` ${token} `), Buffer.alloc(window, 'y ')]);
      const answer = inPieces(bytes, () => 4096);
      t.equal(answer.bytes.indexOf(token.slice(4)), -1, `${offset} ${distance}`);
      t.match(answer.redactor.redactions, [{ rule: 'github-token', count: 1 }]);
    }
  }
});

long('removes a chain of overlapping secrets longer than the buffer', async (t) => {
  const chain = Buffer.from(token.repeat(Math.ceil((10 * 1024 * 1024) / token.length)));
  const { bytes } = inPieces(chain, () => 1024 * 1024);
  t.equal(bytes.indexOf(token.slice(4, 30)), -1);
  t.ok(bytes.length < chain.length);
});

t.test('JSON stays valid after redaction', async (t) => {
  t.same(JSON.parse(show(JSON.stringify({ token, list: [npmToken], n: 1 }))), {
    token: '[redacted:secrets:github-token]',
    list: ['[redacted:secrets:npm-token]'],
    n: 1,
  });
});
