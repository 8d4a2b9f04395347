import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import t from 'tap';
import { isRfc3339DateTime } from '../../readers/documents/date-time.ts';
import {
  findSchemaViolations,
  maxViolations,
  type SchemaNode,
  schemaRoot,
} from '../../spec/document-schema.ts';
import schema from '../../spec/intentspec.v1.schema.json' with { type: 'json' };
import { seededRandom } from '../chance/seeded-random.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { long } from '../rooms/long.ts';
import { type Json, sample, specFolder } from './sample.ts';

/** What stands in the place of anything: each type, each side of a bound, names that objects have without being told. */
const values: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  86_401,
  '',
  'x',
  'IntentSpec',
  '😀😀😀',
  '😀'.repeat(130),
  'a'.repeat(9000),
  '2026-01-31T09:30:00Z',
  'low',
  [],
  ['a'],
  [1, null],
  [{}],
  {},
  { a: 1 },
  { constructor: 1 },
];
const strangeNames = ['extra', '__x', 'a/b~c', 'toString', 'hasOwnProperty'];

long('the validator finds the same schema violations as ajv', async (t) => {
  const random = seededRandom(toldSeed(t));
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const ajv = new Ajv2020({ allErrors: true, formats: { 'date-time': isRfc3339DateTime } });
  const validate = ajv.compile(schema);
  const documents = readdirSync(new URL('valid/', specFolder)).map((name) =>
    readFileSync(new URL(`valid/${name}`, specFolder), 'utf8'),
  );
  let broken = 0;
  for (let round = 0; round < 3000; round += 1) {
    const document = JSON.parse(pick(documents)) as Json;
    for (let change = 0; change <= round % 4; change += 1) damage(document, pick);
    const ours = findSchemaViolations(document).map(
      ({ at, keyword, said }) => `${at} ${keyword} ${JSON.stringify(said)}`,
    );
    const theirs = validate(document) ? [] : (validate.errors ?? []).map(toLine);
    if (theirs.length > 0) broken += 1;
    if (ours.toSorted().join('\n') !== theirs.toSorted().join('\n'))
      t.strictSame(ours.toSorted(), theirs.toSorted(), `round ${round}`);
  }
  t.ok(broken > 2000, `${broken} of them broken`);
});

/** Takes away, adds or replaces one thing somewhere in it. */
function damage(document: Json, pick: <Item>(items: readonly Item[]) => Item): void {
  const [holder, key] = pick(placesIn(document));
  const what = pick(['remove', 'add', 'replace', 'replace']);
  if (what === 'remove' && Array.isArray(holder)) holder.splice(Number(key), 1);
  else if (what === 'remove') delete (holder as Record<string, Json>)[key];
  else if (what === 'add' && !Array.isArray(holder))
    (holder as Record<string, Json>)[pick(strangeNames)] = structuredClone(pick(values));
  else (holder as Record<string, Json>)[key] = structuredClone(pick(values));
}

function placesIn(value: Json): readonly (readonly [holder: Json, key: string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[value, key] as const, ...placesIn(inner)]);
}

function toLine({ instancePath, keyword, params }: ErrorObject): string {
  const said =
    params.limit ??
    params.missingProperty ??
    params.additionalProperty ??
    params.allowedValues ??
    params.allowedValue ??
    params.pattern ??
    params.format ??
    params.type;
  return `${instancePath} ${keyword} ${JSON.stringify(said)}`;
}

t.test('the schema uses only keywords that the validator implements', async (t) => {
  const judged = new Set([
    ...['type', 'const', 'enum', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum'],
    ...['minItems', 'items', 'required', 'properties', 'additionalProperties'],
    ...['$schema', '$id', '$defs', 'title', 'description', 'default'],
  ]);
  const besideReference = new Set(['$ref', 'default', 'description']);
  for (const node of nodesOf(schemaRoot))
    t.strictSame(
      Object.keys(node).filter((word) => !('$ref' in node ? besideReference : judged).has(word)),
      [],
      JSON.stringify(node).slice(0, 80),
    );
});

function nodesOf(node: SchemaNode): readonly SchemaNode[] {
  const { properties = {}, $defs = {}, items, additionalProperties } = node;
  return [
    node,
    ...[...Object.values(properties), ...Object.values($defs)].flatMap(nodesOf),
    ...(items === undefined ? [] : nodesOf(items)),
    ...(typeof additionalProperties === 'object' ? nodesOf(additionalProperties) : []),
  ];
}

t.test('the number of violations is bounded', async (t) => {
  const flood = Object.fromEntries(
    Array.from({ length: maxViolations + 2000 }, (_, index) => [`x${index}`, 1]),
  );
  t.equal(findSchemaViolations({ ...sample('minimal'), ...flood }).length, maxViolations);
});
