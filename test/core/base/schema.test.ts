import t from 'tap';
import {
  anything,
  as,
  count,
  either,
  flag,
  list,
  mapOf,
  object,
  oneOf,
  parse,
  SchemaFault,
  says,
  text,
  toJsonSchema,
  where,
  withDefault,
} from '../../../core/base/schema.ts';

const thing = object(
  'a thing',
  {
    name: text(4),
    parts: list(object('a part', { size: count(1) }), 2),
    more: withDefault(mapOf('words by name', text(9, 0)), {}),
    kind: either((kind) => typeof kind === 'string', oneOf('a', 'b'), count(0)),
  },
  { shown: flag, even: where(count(0), 'to be even', (found) => found % 2 === 0) },
);
const good = { name: 'n', parts: [{ size: 1 }], kind: 'a' };

function faultOf(value: unknown): SchemaFault {
  try {
    parse(thing, value);
  } catch (fault) {
    if (fault instanceof SchemaFault) return fault;
  }
  throw new Error(`accepted ${JSON.stringify(value)}`);
}

t.test('a value is returned in normal form', async (t) => {
  t.strictSame(parse(thing, { shown: undefined, ...good }), { ...good, more: {} });
  t.strictSame(parse(thing, { ...good, kind: 3, even: 2 }), { ...good, kind: 3, even: 2, more: {} });
});

t.test('the first fault has its place, and words that never print a text', async (t) => {
  const proto = JSON.parse('{"__proto__":"x"}');
  for (const [value, path, message] of [
    [7, [], 'expected a thing, got `7`'],
    [{ ...good, name: 'hunter2' }, ['name'], 'expected `name` to have 1 to 4 characters, got 7'],
    [{ ...good, name: ['hunter2'] }, ['name'], 'expected `name` to be text, got a list'],
    [{ ...good, parts: 'hunter2' }, ['parts'], 'expected a list, got string'],
    [{ ...good, parts: new Array(4e9) }, ['parts'], 'expected at most 2 entries, got 4000000000'],
    [
      { ...good, parts: [{ size: 1 }, {}] },
      ['parts', 1, 'size'],
      'expected `size` to count from 1, got `undefined`',
    ],
    [{ ...good, kind: 'hunter2' }, ['kind'], 'expected `kind` to be one of a, b, got string'],
    [{ ...good, even: 3 }, ['even'], 'expected `even` to be even'],
    [{ ...good, more: proto }, ['more'], 'expected words by name'],
    [
      { ...good, ...{ nam: 1 }, name: undefined },
      [],
      /^expected a thing, got the unknown field `nam`, did you mean `name`\? \(known here: `name`, /,
    ],
    [Object.assign(JSON.parse('{"__proto__":1}'), good), [], /unknown field `__proto__`/],
  ] as const) {
    const fault = faultOf(value);
    t.strictSame(fault.facts.path, path);
    t.match(fault.message, message);
    t.notMatch(fault.message, 'hunter2');
  }
});

t.test('text is measured in UTF-16 units, and an endless one is not read', async (t) => {
  t.throws(() => parse(text(1), '\u{1f600}'), { message: /got 2$/ });
  t.throws(() => parse(text(9), 'x'.repeat(100_000_000)), { message: /got 100000000$/ });
});

t.test('a change of form may refuse in its own words', async (t) => {
  const odd = object('a pair', {
    one: as(anything, () => {
      throw new TypeError('no luck');
    }),
  });
  t.throws(() => parse(odd, { one: 1 }), { message: 'no luck', facts: { path: ['one'] } });
});

t.test('the JSON Schema of a shape holds its bounds and descriptions', async (t) => {
  const shape = object('x', { a: says(list(text(5), 3), 'some') }, { b: count(1, 9) });
  t.strictSame(toJsonSchema(shape), {
    required: ['a'],
    type: 'object',
    properties: {
      a: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: 5 },
        maxItems: 3,
        description: 'some',
      },
      b: { type: 'integer', minimum: 1, maximum: 9 },
    },
    additionalProperties: false,
  });
});
