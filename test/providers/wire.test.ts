import t from 'tap';
import { argumentsAsObject, argumentsAsText, readFrame } from '../../providers/wire/read-frame.ts';
import { callIds, SaidFailureError, versioned } from '../../providers/wire/wire-format.ts';

t.test('keeps the version in a base URL and otherwise adds the default one', async (t) => {
  for (const [base, path] of [
    ['https://api.anthropic.com', '/v1/messages'],
    ['https://gateway.example/anthropic', '/v1/messages'],
    ['https://gateway.example/anthropic/v1', '/messages'],
    ['https://generativelanguage.googleapis.com/v1beta', '/messages'],
    ['https://gateway.example/v1alpha2', '/messages'],
    ['https://gateway.example/v1/proxy', '/v1/messages'],
    ['https://gateway.example/vault', '/v1/messages'],
  ] as const)
    t.equal(versioned(base, '/v1', '/messages'), path, base);
});

t.test('checks the shape of a frame before parsing and ignores brackets in strings', async (t) => {
  const isBroken = (text: string): boolean => {
    try {
      readFrame(text);
      return false;
    } catch (fault) {
      return fault instanceof SaidFailureError && fault.said.kind === 'broken-reply';
    }
  };
  const text = (length: number): string => '[{,'.repeat(length);
  t.strictSame(readFrame(JSON.stringify({ a: `${text(300_000)}\\"` })), { a: `${text(300_000)}\\"` });
  t.strictSame(readFrame(JSON.stringify({ a: '\\', b: text(100) })), { a: '\\', b: text(100) });
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  t.doesNotThrow(() => readFrame(nested(48)));
  t.doesNotThrow(() => readFrame(`[${Array(500).fill(nested(40)).join()}]`), 'side by side is not deep');
  for (const bad of [
    nested(49),
    nested(100_000),
    `[${'0,'.repeat(200_000)}0]`,
    `{"a":"${'x'.repeat(100)}`,
    '{]',
    '',
  ])
    t.ok(isBroken(bad), bad.slice(0, 20));
});

t.test('gives each call a unique id and keeps ids from the vendor', async (t) => {
  const toId = callIds();
  t.strictSame(['a', '', 'call-4', '', 'a', 'x'.repeat(257)].map(toId), [
    'a',
    'call-2',
    'call-4',
    'call-5',
    'call-6',
    'call-7',
  ]);
});

t.test('arguments that are text to a vendor stay as they came only if they are an object', async (t) => {
  for (const given of ['{"a": 1}', '{}']) t.equal(argumentsAsText(given), given);
  for (const given of ['{"a":', '', '"'])
    t.strictSame(JSON.parse(argumentsAsText(given)), { malformed: given });
  t.strictSame(JSON.parse(argumentsAsText('[1]')), { malformed: [1] });
});

t.test('wraps arguments that are not a valid object into one', async (t) => {
  t.strictSame(argumentsAsObject('{"a":1}'), { a: 1 });
  t.strictSame(argumentsAsObject('[1]'), { malformed: [1] });
  t.strictSame(argumentsAsObject('{"a":'), { malformed: '{"a":' });
  t.strictSame(argumentsAsObject(''), { malformed: '' });
  const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`;
  t.strictSame(argumentsAsObject(deep), { malformed: deep });
});
