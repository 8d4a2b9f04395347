import t from 'tap';
import { firstDifference } from '../../providers/replay/source.ts';
import { maskValues } from '../../providers/wire/traffic-file.ts';

const secret = 'sk-c/n"ry\\é 0123456789?';
const mask = maskValues([secret, 'short']);
const stars = (length: number): string => '*'.repeat(length);

t.test('masks a value as plain text, JSON, URL, hexadecimal and base64', async (t) => {
  const inUrl = encodeURIComponent(secret);
  for (const form of [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    inUrl,
    inUrl.replaceAll(/%../g, (code) => code.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
  ]) {
    t.equal(mask.text(`a ${form} b ${form}`), `a ${stars(form.length)} b ${stars(form.length)}`, form);
    const octets = Buffer.from(`é${form}é`);
    t.equal(String(mask.bytes(octets)), `é${stars(Buffer.byteLength(form))}é`, 'the same length in octets');
  }
  for (const before of ['', 'u', 'us', 'user:', 'user::'])
    for (const after of ['', 'x', 'xy', 'xyz'])
      for (const form of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(before + secret + after).toString(form);
        const masked = mask.text(`Basic ${encoded}.`);
        t.equal(masked.length, encoded.length + 7);
        t.notMatch(
          Buffer.from(masked.slice(6, -1), 'base64').toString('latin1'),
          /0123|n"ry/,
          `${before}…${after}`,
        );
      }
});

t.test('masks strings and keys in JSON, but not short values', async (t) => {
  t.strictSame(
    mask.json({ a: [secret, 1, null, true], [`x${secret}`]: { b: `${secret}!` }, short: 'short' }),
    {
      a: [stars(secret.length), 1, null, true],
      [`x${stars(secret.length)}`]: { b: `${stars(secret.length)}!` },
      short: 'short',
    },
  );
  t.strictSame(Object.keys(mask.json(JSON.parse('{"__proto__":1}')) as object), ['__proto__']);
  t.equal(mask.text('\ud800'), '\ufffd');
  t.equal(maskValues(['0123456789', '0123456789abc']).text('0123456789abc'), stars(13), 'the longest first');
});

t.test('reports the first difference in canonical order in a short form', async (t) => {
  for (const [expected, found, pointer, was, is] of [
    [{ b: 1, a: [1, 2] }, { a: [1, 3], b: 2 }, '/a/1', '2', '3'],
    [{ a: 1 }, { a: 1, b: null }, '/b', 'nothing', 'null'],
    [{ a: [1] }, { a: [] }, '/a/0', '1', 'nothing'],
    [{ 'a/b~': 1 }, { 'a/b~': '1' }, '/a~1b~0', '1', '"1"'],
    [{ a: {} }, { a: [] }, '/a', '{}', '[]'],
    [{ a: null }, { a: {} }, '/a', 'null', '{}'],
    [JSON.parse('{"__proto__":1}'), {}, '/__proto__', '1', 'nothing'],
    [1, 2, '', '1', '2'],
  ] as const)
    t.strictSame(firstDifference(expected, found), { pointer, expected: was, found: is });
  const long = 'x'.repeat(5000);
  const told = firstDifference({ a: `${long}1${long}` }, { a: `${long}2${long}` });
  t.match(told, { pointer: '/a', expected: /^…"x{20}1x/, found: /^…"x{20}2x/ }, 'what stands around it');
  t.ok((told?.expected.length ?? 0) <= 82 && (told?.found.length ?? 0) <= 82);
  t.equal(firstDifference({ b: [{}], a: -0 }, { a: 0, b: [{}] }), undefined);
});
