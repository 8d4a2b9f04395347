import t from 'tap';
import { toPointer } from '../../core/base/json-pointer.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { long } from '../rooms/long.ts';
import { bytesOf, type Json, put, sample } from './sample.ts';
import { type Place, places } from './schema-walk.ts';

type Tap = Pick<typeof t, 'strictSame' | 'ok'>;

const all = places();
const astral = '\u{1f956}';

/** Schema issues of the high-assurance document, which holds every field, with one change. */
function judge(change: (document: Json) => void): readonly Issue[] {
  const document = sample('high-assurance');
  change(document);
  return readIntentSpec(bytesOf(document)).issues.filter(({ code }) => code.startsWith('SCHEMA_'));
}

const withValue = ({ path }: Place, value: Json): readonly Issue[] =>
  judge((document) => put(document, path, value));

/** One assertion for each test: a report of two thousand lines is read by nobody. */
class Tally {
  readonly wrong: string[] = [];
  asked = 0;

  allowed(place: Place, value: Json, what: string): void {
    this.compare(withValue(place, value), [], `${toPointer(place.path)} ${what}`);
  }

  refused(place: Place, value: Json, code: string, what: string): void {
    this.compare(
      withValue(place, value),
      [`${code} ${toPointer(place.path)}`],
      `${toPointer(place.path)} ${what}`,
    );
  }

  compare(issues: readonly Issue[], expected: readonly string[], what: string): void {
    this.asked += 1;
    const found = issues.map(({ code, path }) => `${code} ${path}`).join(', ');
    if (found !== expected.join(', '))
      this.wrong.push(`${what}: expected ${expected.join(', ') || 'nothing'}, found ${found || 'nothing'}`);
  }

  settle(t: Tap, atLeast: number): void {
    t.strictSame(this.wrong, []);
    t.ok(this.asked >= atLeast, `${this.asked} cases`);
  }
}

t.test('the high-assurance sample has a value for every field of the schema', async (t) => {
  const document = sample('high-assurance');
  for (const { path } of all) {
    let value: Json | undefined = document;
    for (const key of path) value = (value as { [key: string]: Json } | undefined)?.[key];
    t.not(value, undefined, toPointer(path));
  }
});

t.test('every string length is bounded in code points, at the exact limits', async (t) => {
  const tally = new Tally();
  for (const place of all) {
    const { minLength, maxLength } = place.node;
    if (maxLength !== undefined) {
      tally.allowed(place, astral.repeat(maxLength), `${maxLength} characters`);
      tally.refused(place, astral.repeat(maxLength + 1), 'SCHEMA_MAX_LENGTH', `${maxLength + 1} characters`);
    }
    if (minLength !== undefined) {
      tally.allowed(place, astral.repeat(minLength), `${minLength} characters`);
      tally.refused(place, astral.repeat(minLength - 1), 'SCHEMA_MIN_LENGTH', `${minLength - 1} characters`);
    }
  }
  tally.settle(t, 120);
});

t.test('every number must be an integer within its exact bounds', async (t) => {
  const tally = new Tally();
  for (const place of all.filter(({ node }) => node.type === 'integer')) {
    const { minimum, maximum } = place.node;
    if (minimum === undefined) throw new Error('an integer without a minimum');
    tally.allowed(place, minimum, `${minimum}`);
    tally.refused(place, minimum - 1, 'SCHEMA_MINIMUM', `${minimum - 1}`);
    tally.refused(place, minimum + 0.5, 'SCHEMA_TYPE', 'a fraction');
    if (maximum === undefined) tally.allowed(place, Number.MAX_SAFE_INTEGER, 'as large as JSON goes');
    else {
      tally.allowed(place, maximum, `${maximum}`);
      tally.refused(place, maximum + 1, 'SCHEMA_MAXIMUM', `${maximum + 1}`);
    }
  }
  tally.settle(t, 60);
});

t.test('every list accepts its minimum number of items and no fewer', async (t) => {
  const tally = new Tally();
  for (const place of all.filter(({ node }) => node.type === 'array')) {
    const document = sample('high-assurance');
    let value: Json = document;
    for (const key of place.path) value = (value as { [key: string]: Json })[key] as Json;
    const [first] = value as Json[];
    if (first === undefined) throw new Error(`the sample has no item at ${toPointer(place.path)}`);
    tally.allowed(place, [first], 'one item');
    if (place.node.minItems === undefined) tally.allowed(place, [], 'no item');
    else {
      t.equal(place.node.minItems, 1, toPointer(place.path));
      tally.refused(place, [], 'SCHEMA_MIN_ITEMS', 'no item');
    }
  }
  tally.settle(t, 50);
});

t.test('every word of a choice is accepted and another is refused', async (t) => {
  const tally = new Tally();
  for (const place of all) {
    for (const value of place.node.enum ?? []) tally.allowed(place, value, value);
    if (place.node.enum) {
      for (const other of ['', 'other', `${place.node.enum[0]} `, String(place.node.enum[0]).toUpperCase()]) {
        tally.refused(place, other, 'SCHEMA_ENUM', JSON.stringify(other));
      }
    }
    if (place.node.const !== undefined) tally.refused(place, 'other', 'SCHEMA_CONST', 'another constant');
  }
  tally.settle(t, 120);
});

long('every value of another type is refused with one issue', async (t) => {
  const tally = new Tally();
  // The other three lists and the deny rules are governed by the same definitions.
  const repeated =
    /^\/acceptance\/verificationPlan\/(?:integration|security|release)Checks\/|^\/security\/toolAcl\/deny\//;
  for (const place of all.filter(({ path }) => !repeated.test(toPointer(path)))) {
    const { type } = place.node;
    for (const [name, value] of Object.entries({
      string: 'text',
      integer: 5,
      boolean: true,
      array: [],
      object: {},
      null: null,
    })) {
      if (name === type || place.path.length === 0) continue;
      tally.refused(place, value, 'SCHEMA_TYPE', `as ${name}`);
    }
  }
  tally.settle(t, 600);
});

t.test(
  'a missing required property is reported at its parent, and other properties are optional',
  async (t) => {
    const tally = new Tally();
    for (const place of all.filter(({ required }) => required !== undefined)) {
      const issues = judge((document) => put(document, place.path, undefined));
      const expected = place.required ? [`SCHEMA_REQUIRED ${toPointer(place.path.slice(0, -1))}`] : [];
      tally.compare(issues, expected, toPointer(place.path));
    }
    tally.settle(t, 130);
  },
);

t.test('every object refuses an unknown property, but for the open ones', async (t) => {
  const tally = new Tally();
  const open: string[] = [];
  for (const place of all.filter(({ node }) => node.type === 'object')) {
    const { additionalProperties } = place.node;
    const pointer = toPointer(place.path);
    if (additionalProperties !== false) open.push(pointer);
    for (const key of ['unknown', '__proto__', 'constructor', 'toString', 'a/b~c', '']) {
      const issues = judge((document) => {
        let holder = document as { [key: string]: Json };
        for (const part of place.path) holder = holder[part] as { [key: string]: Json };
        Object.defineProperty(holder, key, { value: 'text', enumerable: true, configurable: true });
      });
      const expected =
        additionalProperties === false
          ? [`SCHEMA_ADDITIONAL_PROPERTIES ${toPointer([...place.path, key])}`]
          : [];
      tally.compare(issues, expected, `${pointer} ${key}`);
    }
  }
  t.strictSame(open.sort(), [
    '/extensions',
    '/metadata/target/labels',
    '/objmodel/runPolicy/metricsSchema',
    '/security/toolAcl/allow/0/constraints',
    '/security/toolAcl/deny/0/constraints',
  ]);
  tally.settle(t, 200);
});

t.test('label values are text of at most 128 characters', async (t) => {
  const tally = new Tally();
  const label = { path: ['metadata', 'target', 'labels', 'a/b'], node: {} };
  tally.allowed(label, astral.repeat(128), '128 characters');
  tally.refused(label, astral.repeat(129), 'SCHEMA_MAX_LENGTH', '129 characters');
  tally.refused(label, 1, 'SCHEMA_TYPE', 'a number');
  tally.settle(t, 3);
});

t.test('`apiVersion` and `schemaVersion` must match their patterns', async (t) => {
  const tally = new Tally();
  const api: Place = { path: ['apiVersion'], node: {} };
  for (const text of [
    'intentspec.io/v1',
    'intentspec.io/v1alpha1',
    'intentspec.io/v2beta12',
    'intentspec.a-b.example.com/v10',
  ])
    tally.allowed(api, text, text);
  for (const text of [
    'intentspec/v1',
    'intentspec./v1',
    'intentspec.io/v',
    'intentspec.io/1',
    'intentspec.io/v1gamma1',
    'intentspec.io/v1alpha',
    'intentspec.io/v1alpha1beta1',
    'intentspec.-a/v1',
    'intentspec.io/v1\n',
    'xintentspec.io/v1',
    `intentspec.${'a'.repeat(64)}/v1`,
  ]) {
    tally.refused(api, text, 'SCHEMA_PATTERN', JSON.stringify(text));
  }
  const version: Place = { path: ['lifecycle', 'schemaVersion'], node: {} };
  for (const text of ['0.0.0', '1.0.0', '10.20.30']) tally.allowed(version, text, text);
  for (const text of ['1', '1.0', '1.0.0.0', '01.0.0', '1.0.0-rc1', 'v1.0.0', '1.0.0 ', '١.0.0'])
    tally.refused(version, text, 'SCHEMA_PATTERN', text);
  tally.settle(t, 22);
});
