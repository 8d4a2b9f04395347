/*
 * Draws IntentSpecs from the schema that `writ spec schema` prints: valid ones, and ones with one fault. Each starts
 * from a spec that is valid, so that many pass the semantic rules, and has some members replaced. Over as many specs as
 * the schema has members, every member is drawn at least once.
 */
import { seededRandom } from '../../test/chance/seeded-random.ts';
import { isRecord, type Json } from './json.ts';

type Node = { readonly [key: string]: Json };
type Mutable = { [key: string]: Json };

/** A drawn spec, and the members in which it differs from the spec that it started from. */
export interface DrawnSpec {
  readonly name: string;
  readonly spec: Json;
  /** Names of members from the root, joined by `/`. */
  readonly drawn: readonly string[];
  /** The fault that was put in; absent if every drawn value fits the schema. */
  readonly fault?: string;
}

/** Draws `count` specs. The same seed draws the same specs. */
export function drawSpecs(
  schema: Json,
  bases: readonly Json[],
  { seed, count }: { readonly seed: number; readonly count: number },
): readonly DrawnSpec[] {
  const draw = new Draw(schema, seededRandom(seed));
  const members = draw.members();
  return Array.from({ length: count }, (_, index) => {
    const spec = structuredClone(bases[index % bases.length] ?? {}) as Mutable;
    const chosen = [members[index % members.length], ...draw.some(members, draw.below(3))].flatMap((one) =>
      one === undefined ? [] : [one],
    );
    for (const { path, node } of chosen) put(spec, path, draw.value(node, path.at(-1) ?? ''));
    const fault = index % 3 === 2 ? draw.breakOne(spec, members) : undefined;
    const drawn = chosen.map(({ path }) => path.join('/'));
    return { name: `spec ${index}`, spec, drawn, ...(fault === undefined ? {} : { fault }) };
  });
}

/** A member that the schema names: where it is, what it may hold, and whether it must be there. */
export interface Member {
  readonly path: readonly string[];
  readonly node: Node;
  readonly required: boolean;
}

/** Every member of the objects of a schema, outermost first. Members of objects in lists belong to the list. */
export function membersOf(schema: Json): readonly Member[] {
  return new Draw(schema, () => 0).members();
}

class Draw {
  readonly #schema: Json;
  readonly #random: () => number;

  constructor(schema: Json, random: () => number) {
    this.#schema = schema;
    this.#random = random;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  some<T>(values: readonly T[], count: number): readonly T[] {
    return Array.from({ length: count }, () => values[this.below(values.length)]).filter(
      (one) => one !== undefined,
    );
  }

  members(node = this.#resolve(this.#schema), path: readonly string[] = []): readonly Member[] {
    const required = Array.isArray(node.required) ? node.required : [];
    return Object.entries(isRecord(node.properties) ? node.properties : {}).flatMap(([name, value]) => {
      const own = { path: [...path, name], node: this.#resolve(value), required: required.includes(name) };
      return [own, ...this.members(own.node, own.path)];
    });
  }

  /** A value that fits a node; `name` is the member for which it is drawn. */
  value(node: Node, name: string): Json {
    if (node.const !== undefined) return node.const;
    if (Array.isArray(node.enum)) return this.#pick(node.enum);
    switch (node.type) {
      case 'boolean':
        return this.#random() < 0.5;
      case 'integer': {
        const least = Number(node.minimum ?? 0);
        const most = Number(node.maximum ?? least + 100_000);
        // Bounds and small numbers find more than numbers from the middle of a wide range.
        return this.#pick([least, least + 1, most, least + this.below(Math.min(12, most - least) + 1)]);
      }
      case 'array':
        return this.#list(node, name);
      case 'object':
        return this.#object(node, name);
      default:
        return this.#text(node, name);
    }
  }

  /** Puts one fault into a spec and says which. */
  breakOne(spec: Mutable, members: readonly Member[]): string {
    const member = this.#pick(members.filter(({ path }) => path.length > 1));
    const { path, node, required } = member;
    const place = path.join('/');
    const beside = [...path.slice(0, -1), 'unknownMember'];
    const faults: (readonly [what: string, at: readonly string[], value: Json | undefined])[] = [
      ['an unknown member beside it', beside, 1],
      ['another type', path, node.type === 'string' ? 7 : 'text'],
      ['null', path, null],
    ];
    if (required) faults.push(['absent', path, undefined]);
    if (Array.isArray(node.enum)) faults.push(['an unknown word', path, 'other']);
    if (node.minItems !== undefined) faults.push(['an empty list', path, []]);
    if (node.maximum !== undefined) faults.push(['above its maximum', path, Number(node.maximum) + 1]);
    if (node.minimum !== undefined) faults.push(['below its minimum', path, Number(node.minimum) - 1]);
    if (node.maxLength !== undefined) faults.push(['too long', path, 'x'.repeat(Number(node.maxLength) + 1)]);
    const [what, at, value] = this.#pick(faults);
    if (value === undefined) remove(spec, at);
    else put(spec, at, value);
    return `${place}: ${what}`;
  }

  #resolve(node: Json | undefined): Node {
    if (!isRecord(node)) return {};
    const reference = node.$ref;
    if (typeof reference !== 'string') return node;
    const definitions = isRecord(this.#schema) ? this.#schema.$defs : undefined;
    return this.#resolve(isRecord(definitions) ? definitions[reference.replace('#/$defs/', '')] : undefined);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  #list(node: Node, name: string): Json {
    const least = Number(node.minItems ?? 0);
    const items = this.#resolve(node.items);
    return Array.from({ length: least + this.below(4 - Math.min(least, 1)) }, () => this.value(items, name));
  }

  #object(node: Node, name: string): Json {
    const required = Array.isArray(node.required) ? node.required : [];
    const value: Mutable = {};
    const properties = isRecord(node.properties) ? node.properties : {};
    for (const [key, child] of Object.entries(properties))
      if (required.includes(key) || this.#random() < 0.5) value[key] = this.value(this.#resolve(child), key);
    if (Object.keys(properties).length === 0 && this.#random() < 0.7)
      Object.assign(value, this.#pick(openObjects[name] ?? [{ key: 'value' }]));
    return value;
  }

  #text(node: Node, name: string): string {
    const known = texts[name];
    if (known !== undefined && this.#random() < 0.9) return this.#pick(known);
    if (node.format === 'date-time') return this.#pick(times);
    const least = Number(node.minLength ?? 0);
    const most = Math.min(Number(node.maxLength ?? 60), least + 40);
    const text = Array.from({ length: 12 }, () => this.#pick(words)).join(' ');
    return text.slice(0, least + this.below(most - least + 1)).padEnd(least, 'x');
  }
}

function put(spec: Mutable, path: readonly string[], value: Json): void {
  let at = spec;
  for (const name of path.slice(0, -1)) {
    if (!isRecord(at[name])) at[name] = {};
    at = at[name] as Mutable;
  }
  at[path.at(-1) ?? ''] = value;
}

function remove(spec: Mutable, path: readonly string[]): void {
  let at: Json | undefined = spec;
  for (const name of path.slice(0, -1)) at = isRecord(at) ? at[name] : undefined;
  if (isRecord(at)) delete (at as Mutable)[path.at(-1) ?? ''];
}

const times = [
  '2025-05-06T07:08:09Z',
  '2026-02-10T14:02:31+01:00',
  '1999-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
];
const words = [
  'prices',
  'are',
  'exact',
  'ünïcode',
  '価格',
  'total',
  'rounded',
  'once',
  '*',
  '../up',
  '"quoted"',
  '😀',
];

/** Values by the member for which they are drawn: most mean something to a semantic rule, some break one. */
const texts: Readonly<Record<string, readonly string[]>> = {
  apiVersion: ['intentspec.io/v1alpha1', 'intentspec.example.org/v2', 'intentspec.io/v1'],
  locator: [
    'https://git.example.com/a.git',
    'git@git.example.com:a/b.git',
    '//services/price',
    '/srv/repositories/a',
    '../a',
  ],
  baseRef: [
    'main',
    'HEAD',
    'release/1.x',
    'v1.0.0',
    'main~1',
    '--all',
    '567696fe087fadabbefdadb606a03f2afda5949e',
  ],
  inScope: ['src/', 'test/', 'src/price.js', '**/*.js', 'the whole repository', 'docs/*.md', '/etc/passwd'],
  outOfScope: ['src/secret/', 'package.json', 'src/vat.js: rounded by law', 'docs/'],
  files: ['src/**/*.js', 'test/*.test.js', 'src/price.js', '[', '!src/'],
  symbols: ['price', 'Basket.total', 'price()', '#private'],
  apis: ['/v1/prices', 'GET /v1/prices/{id}', 'prices'],
  command: [
    'node --test',
    'npm test',
    'true',
    'sh -c "echo a; echo b"',
    'new-tests',
    'sca',
    'secrets',
    'scope',
    'cat x | sh',
    'rm -rf /',
  ],
  cryptoPolicy: ['', 'FIPS 140-3', 'no MD5'],
  allowedSpdx: ['MIT', 'Apache-2.0', 'GPL-3.0-only', 'MIT OR Apache-2.0', 'No-Such-Licence'],
  languageRuntime: ['node@24', 'node >=22', 'python 3.12', 'java', 'cobol 85'],
  supportedOS: ['linux', 'macos', 'windows', 'plan9'],
  factors: ['handles money', 'touches auth', 'migration'],
  allowedDomains: ['docs.example.org', '*.example.com', 'https://example.org', '*', 'localhost', '127.0.0.1'],
  blockedDomains: ['*', 'evil.example', 'example.*'],
  tool: ['workspace.command', 'workspace.file', 'web.fetch', 'workspace.*', 'no.such.tool'],
  actions: ['execute', 'read', 'write', '*', 'dance'],
  allowedScopes: ['NPM_TOKEN', 'ci/deploy', '*'],
  format: ['', 'sarif', 'cyclonedx-json', 'spdx-json', 'markdown', 'cyclonedx-json; version=1.7', 'docx'],
  aiRefPrefix: ['refs/ai/', 'refs/x-team/', 'refs/heads/', 'refs/ai'],
  schemaVersion: ['1.0.0', '1.2.3', '2.0.0', '0.9.0'],
  artifactsProduced: ['test-log', 'build-log', 'sast-report', 'sbom', 'metrics'],
};

/** Values of objects whose members the schema does not name. */
const openObjects: Readonly<Record<string, readonly Mutable[]>> = {
  labels: [{ area: 'price' }, { area: 'price', quarter: '2026-1' }],
  constraints: [
    { allowCommands: ['node', 'npm'] },
    { denyCommands: ['curl'] },
    { paths: ['src/'] },
    { allowCommands: 'node' },
    { noSuchKey: true },
  ],
  metricsSchema: [{ type: 'object' }, { type: 'object', required: ['ms'] }, { type: 'no-such-type' }],
  extensions: [
    { 'example.org/ticket': 'A-1' },
    { ticket: 'A-1' },
    { 'example.org/nested': { a: [1, 2, null] } },
  ],
};
