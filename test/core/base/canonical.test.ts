import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { canonicalDigest, canonicalize } from '../../../core/base/canonical.ts';

t.test('`canonicalize` gives the output of the example in RFC 8785, 3.2.2 and 3.2.3', async (t) => {
  const value = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`) as unknown;
  t.equal(
    canonicalize(value),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

t.test('keys are sorted by UTF-16 code units (RFC 8785, 3.2.3)', async (t) => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  const order = [...canonicalize(value).matchAll(/:"([^"]*)"/g)].map((match) => match[1]);
  t.strictSame(order, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

t.test('integer-like keys are sorted as text', async (t) => {
  t.equal(canonicalize({ '10': 1, '9': 2, a: 3, '1': 4 }), '{"1":4,"10":1,"9":2,"a":3}');
});

t.test('`canonicalize` writes the numbers of RFC 8785, appendix B', async (t) => {
  const vectors: readonly (readonly [bits: string, text: string])[] = [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ];
  for (const [bits, text] of vectors) {
    t.equal(canonicalize(Buffer.from(bits, 'hex').readDoubleBE()), text, bits);
  }
});

t.test('strings are written as ECMAScript writes them', async (t) => {
  for (let unit = 0; unit < 0x300; unit += 1) {
    const text = `a${String.fromCharCode(unit)}b`;
    t.equal(canonicalize(text), JSON.stringify(text));
  }
  t.equal(canonicalize('\u2028\u{1f600}\u007f'), '"\u2028\u{1f600}\u007f"');
});

t.test('values that JSON cannot represent are refused', async (t) => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const refused = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    undefined,
    { a: undefined },
    [undefined],
    1n,
    Symbol('a'),
    () => 1,
    new Date(0),
    new Map(),
    Buffer.from('a'),
    '\ud800',
    'a\udc00b',
    '\udc00\ud800',
    { '\ud800': 1 },
    cycle,
  ];
  for (const value of refused) t.throws(() => canonicalize(value), { code: 'INTERNAL' }, typeof value);
});

t.test('an object without a prototype and a `__proto__` member are plain data', async (t) => {
  t.equal(canonicalize(Object.assign(Object.create(null) as object, { b: 1, a: 2 })), '{"a":2,"b":1}');
  t.equal(canonicalize(JSON.parse('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}');
});

t.test('the digest is SHA-256 over the canonical UTF-8 form, whatever the layout', async (t) => {
  const text = readFileSync(
    new URL('../../../fixtures/specs/valid/high-assurance.json', import.meta.url),
    'utf8',
  );
  const value = JSON.parse(text) as Record<string, unknown>;
  const digest = canonicalDigest(value);
  t.equal(digest, createHash('sha256').update(canonicalize(value), 'utf8').digest('hex'));
  t.equal(canonicalDigest(Object.fromEntries(Object.entries(value).reverse())), digest);
  t.equal(canonicalDigest({ ä: '€' }), createHash('sha256').update('{"ä":"€"}').digest('hex'));
  t.not(canonicalDigest({ ...value, kind: 'intentspec' }), digest);
});
