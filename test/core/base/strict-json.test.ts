import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { parseStrictJson, type StrictJsonOptions } from '../../../core/base/strict-json.ts';

const parse = (text: string | Uint8Array, options?: StrictJsonOptions): unknown =>
  parseStrictJson(typeof text === 'string' ? Buffer.from(text) : text, options).value;

function refusalOf(
  text: string | Uint8Array,
  options?: StrictJsonOptions,
): Readonly<Record<string, unknown>> {
  try {
    parse(text, options);
  } catch (thrown) {
    if (thrown instanceof WritError) return { code: thrown.code, ...thrown.detail };
    throw thrown;
  }
  return { accepted: true };
}

t.test('valid JSON is parsed as `JSON.parse` parses it', async (t) => {
  const texts = [
    '{}',
    '[]',
    ' \t\r\n{ "a" : [ 1 , -2.5e-3, 1E+2, 0, 0.0 ] , "b" : { "" : null } }\n',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\ud83d\\ude00\u{1f600}\u007f\u2028"',
    'true',
    '[false,null,"",[[]],{"a":{}}]',
    '{"10":1,"9":2,"constructor":3,"toString":4,"hasOwnProperty":5}',
    '1e300',
    '9007199254740991',
    '-9007199254740991',
    '5e-324',
    '0e-999',
  ];
  for (const text of texts) t.strictSame(parse(text), JSON.parse(text));
  t.equal(JSON.stringify(parse('{"10":1,"9":2}')), '{"9":2,"10":1}');
});

t.test('negative zero is parsed as zero', async (t) => {
  t.ok(Object.is(parse('-0'), 0));
  t.ok(Object.is(parse('-0.0e5'), 0));
});

t.test('`__proto__` is an ordinary property and changes no prototype', async (t) => {
  const value = parse('{"__proto__": {"polluted": true}, "a": 1}') as Record<string, unknown>;
  t.strictSame(Object.keys(value), ['__proto__', 'a']);
  t.equal(Object.getPrototypeOf(value), Object.prototype);
  t.equal(Reflect.get(value, 'polluted'), undefined);
  t.match(refusalOf('{"__proto__": 1, "__proto__": 2}'), { reason: 'duplicate-key' });
  t.match(refusalOf('{"constructor": 1, "constructor": 2}'), { reason: 'duplicate-key' });
});

t.test('an error has a reason and a position in lines and code points from 1', async (t) => {
  const cases: readonly (readonly [text: string, reason: string, line: number, column: number])[] = [
    ['', 'unexpected-end', 1, 1],
    ['  ', 'unexpected-end', 1, 3],
    ['{"a":1', 'unexpected-end', 1, 7],
    ['"a', 'unexpected-end', 1, 3],
    ['"a\\', 'unexpected-end', 1, 3],
    ['{"a" 1}', 'syntax', 1, 6],
    ['{a:1}', 'syntax', 1, 2],
    ['{"a":1,}', 'syntax', 1, 8],
    ["{'a':1}", 'syntax', 1, 2],
    ['[1,]', 'syntax', 1, 4],
    ['[01]', 'syntax', 1, 3],
    ['[+1]', 'syntax', 1, 2],
    ['[1.]', 'syntax', 1, 3],
    ['[.5]', 'syntax', 1, 2],
    ['[Infinity]', 'syntax', 1, 2],
    ['[-Infinity]', 'syntax', 1, 2],
    ['[undefined]', 'syntax', 1, 2],
    ['[tru]', 'syntax', 1, 2],
    ['"\\x41"', 'syntax', 1, 2],
    ['"\\u00zz"', 'syntax', 1, 2],
    ['\u00a0{}', 'syntax', 1, 1],
    ['{}\r\n{}', 'trailing-data', 2, 1],
    ['{}\r{}', 'trailing-data', 2, 1],
    ['{"\u{1f600}\u{1f600}": 1, "a": 1, "a": 2}', 'duplicate-key', 1, 19],
    ['{"o": {"a": 1,\n "a": 2}}', 'duplicate-key', 2, 2],
    ['{"a": 1, "\\u0061": 2}', 'duplicate-key', 1, 10],
    ['"\\ud800"', 'lone-surrogate', 1, 2],
    ['"\\udc00"', 'lone-surrogate', 1, 2],
    ['"\\ud800\\u0041"', 'lone-surrogate', 1, 2],
    ['"\\ud800\\ud800\\udc00"', 'lone-surrogate', 1, 2],
    ['{"\\ud800": 1}', 'lone-surrogate', 1, 3],
    ['"a\tb"', 'control-character', 1, 3],
    ['"\\n\u0000"', 'control-character', 1, 4],
    ['1e309', 'number-range', 1, 1],
    ['-1e309', 'number-range', 1, 1],
    ['1e-400', 'number-range', 1, 1],
    ['9007199254740992', 'number-range', 1, 1],
    ['-9007199254740992', 'number-range', 1, 1],
    ['9007199254740993.0', 'number-range', 1, 1],
  ];
  for (const [text, reason, line, column] of cases) {
    t.strictSame(
      refusalOf(text),
      { code: 'INTENTSPEC_MALFORMED', reason, line, column },
      JSON.stringify(text),
    );
  }
});

t.test('depth and size have exact limits', async (t) => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  t.same(refusalOf(nested(64)), { accepted: true });
  t.match(refusalOf(nested(65)), { reason: 'too-deep', column: 65 });
  t.match(refusalOf(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`), { reason: 'too-deep' });
  t.match(refusalOf(nested(3), { maxDepth: 2 }), { reason: 'too-deep' });
  const sized = (size: number): string => `"${'x'.repeat(size - 2)}"`;
  t.same(refusalOf(sized(4 * 1024 * 1024)), { accepted: true });
  t.match(refusalOf(sized(4 * 1024 * 1024 + 1)), { reason: 'too-large', line: 1, column: 1 });
  t.match(refusalOf('[1,2]', { maxBytes: 4 }), { reason: 'too-large' });
});

t.test('the caller chooses the error code', async (t) => {
  t.match(refusalOf('{', { code: 'OBJECT_CORRUPT' }), { code: 'OBJECT_CORRUPT', reason: 'unexpected-end' });
});

t.test('an error message strips control characters and has a bounded length', async (t) => {
  t.plan(2);
  try {
    parse(`{"\\u001b[2J${'k'.repeat(500)}":1,"\\u001b[2J${'k'.repeat(500)}":2}`);
  } catch (thrown) {
    const { message } = thrown as Error;
    t.notMatch(message, /[\u0000-\u001f]/);
    t.ok(message.length < 200, message);
  }
});

t.test('every malformed fixture is refused at the expected position', async (t) => {
  const folder = new URL('../../../fixtures/specs/malformed/', import.meta.url);
  const expected = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf8')) as Record<
    string,
    object
  >;
  const files = readdirSync(folder).filter((name) => name !== 'expected.json');
  t.strictSame(files.sort(), Object.keys(expected).sort());
  for (const name of files) {
    t.match(
      refusalOf(readFileSync(new URL(name, folder))),
      { code: 'INTENTSPEC_MALFORMED', ...expected[name] },
      name,
    );
  }
});
