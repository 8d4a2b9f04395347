import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { isLong, long } from '../rooms/long.ts';
import { readPages, readService, readSession } from './query-program.ts';
import {
  readCodes,
  readCommands,
  readConfigKeys,
  readDeclarations,
  readEnvironment,
  readEventsAndMethods,
  readExtensionPoints,
  readOutputSchemas,
  readPluginManifest,
  readPublishedSchemas,
  readStored,
} from './read-interfaces.ts';

t.setTimeout(600_000);

/** Something that differs from bc4e9f22 on purpose: an entry of `interfaces` in `changes.json`. */
interface InterfaceChange {
  /** Name of the snapshot's file, without `.json`. */
  readonly snapshot: string;
  /** JSON pointer (RFC 6901) to the value; `/-` at its end is one item of a list. */
  readonly path: string;
  /** The value at bc4e9f22; absent: there was none. */
  readonly old?: unknown;
  /** The value now; absent: there is none any more. */
  readonly new?: unknown;
  readonly reason: string;
}

/** One place where a snapshot and the product differ. */
type Difference = Omit<InterfaceChange, 'reason'>;

const fixtures = fileURLToPath(new URL('../../fixtures/compatibility/', import.meta.url));
const directory = join(fixtures, 'interfaces');
const recorded = JSON.parse(readFileSync(join(fixtures, 'changes.json'), 'utf8')) as {
  readonly interfaces: readonly InterfaceChange[];
};
/** Set to write snapshots that are missing. One that is there is never written again. */
const isRecording = process.env.WRIT_RECORD_INTERFACES === '1';

/** Readers of the snapshots, by what they read; each answers one snapshot or more, by name. */
const readers: Readonly<Record<string, () => unknown>> = {
  'the types of the entry points': readDeclarations,
  'the JSON Schemas of `--json` data': async () => ({ 'output-schemas': await readOutputSchemas() }),
  'the published JSON Schemas': async () => ({ 'published-schemas': await readPublishedSchemas() }),
  'commands, arguments and options': () => ({ commands: readCommands() }),
  'keys of the configuration': () => ({ configuration: readConfigKeys() }),
  'environment variables': () => ({ environment: readEnvironment() }),
  'members of a plugin manifest': () => ({ 'plugin-manifest': readPluginManifest() }),
  'event types and control methods': () => ({ 'events-and-methods': readEventsAndMethods() }),
  'refs and stored objects': async () => ({ stored: await readStored() }),
  'error codes and exit codes': async () => ({ codes: await readCodes() }),
  'hooks, slots, rules and providers': readExtensionPoints,
  'routes of the service': async () => ({ 'service-routes': await readService() }),
};

/** Readers that start a session or the demo run in `npm run test:long` only. */
const longReaders: typeof readers = {
  'routes, events, MCP tools and page of a session': async () => {
    const { routes, mcp, eventTypes, page } = await readSession();
    if (page === undefined) seen.add('page-session');
    return {
      'session-routes': routes,
      mcp,
      'session-events': { types: eventTypes },
      ...(page === undefined ? {} : { 'page-session': { lines: page } }),
    };
  },
  'the demo and the HTML pages of runs and threads': readPages,
};

/** Snapshots that a reader has answered. */
const seen = new Set<string>();

for (const [what, read] of Object.entries(readers))
  t.test(`${what} match bc4e9f22, except for recorded changes`, compare(read));
for (const [what, read] of Object.entries(longReaders))
  long(`${what} match bc4e9f22, except for recorded changes`, compare(read));

t.test('every recorded change names a snapshot, and every snapshot is compared', async (t) => {
  const names = readdirSync(directory).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);
  t.strictSame(
    recorded.interfaces.filter(({ snapshot }) => !names.includes(snapshot)),
    [],
  );
  if (isLong)
    t.strictSame(
      names.filter((name) => !seen.has(name)),
      [],
    );
});

/** A test of the snapshots that a reader answers. */
function compare(read: () => unknown): (t: Test) => Promise<void> {
  return async (t) => {
    const snapshots = (await read()) as Readonly<Record<string, unknown>>;
    for (const [name, value] of Object.entries(snapshots)) {
      seen.add(name);
      // What JSON cannot hold (`undefined`) is no part of a snapshot.
      const actual: unknown = JSON.parse(JSON.stringify(value));
      const file = join(directory, `${name}.json`);
      if (isRecording && !existsSync(file)) writeFileSync(file, `${JSON.stringify(actual, null, 1)}\n`);
      const snapshot: unknown = JSON.parse(readFileSync(file, 'utf8'));
      const found = differences(name, applyChanges(name, snapshot, recorded.interfaces), actual);
      for (const difference of found) t.fail(explain(difference));
      t.equal(found.length, 0, `${name}: no difference`);
    }
  };
}

t.test('a difference between snapshots is detected and can be recorded', async (t) => {
  const before = { keys: { a: 'text', b: 'number' }, list: ['one', 'two'] };

  await t.test('a changed, added or removed value is a difference', async (t) => {
    const found = differences('sample', before, { keys: { a: 'list', c: 'text' }, list: ['two', 'three'] });
    t.strictSame(found, [
      { snapshot: 'sample', path: '/keys/a', old: 'text', new: 'list' },
      { snapshot: 'sample', path: '/keys/b', old: 'number' },
      { snapshot: 'sample', path: '/keys/c', new: 'text' },
      { snapshot: 'sample', path: '/list/-', old: 'one' },
      { snapshot: 'sample', path: '/list/-', new: 'three' },
    ]);
    t.match(explain(found[0] ?? { snapshot: '', path: '' }), '"path":"/keys/a","old":"text","new":"list"');
    t.strictSame(differences('sample', before, { ...before, list: ['two', 'one'] }), []);
    t.strictSame(differences('sample', [{ a: 1 }, { b: 1, c: 2 }], [{ b: 1, c: 3 }, { a: 1 }]), [
      { snapshot: 'sample', path: '/1/c', old: 2, new: 3 },
    ]);
  });

  await t.test(
    'a recorded difference is accepted, and a recorded change that is absent is reported',
    async (t) => {
      const after = { keys: { a: 'list', 'c/d': 'text' }, list: ['two', 'three'] };
      const changes = differences('sample', before, after).map((one) => ({ ...one, reason: 'a test' }));
      t.strictSame(differences('sample', applyChanges('sample', before, changes), after), []);
      t.equal(differences('sample', applyChanges('sample', before, changes), before).length, changes.length);
    },
  );

  await t.test('a recorded change needs the right old value and a reason', async (t) => {
    const change = { snapshot: 'sample', path: '/keys/a', old: 'list', new: 'map', reason: 'a test' };
    t.throws(() => applyChanges('sample', before, [change]), /does not fit: bc4e9f22 has "text" there/);
    t.throws(() => applyChanges('sample', before, [{ ...change, old: 'text', reason: '' }]), /no reason/);
    const item = { snapshot: 'sample', path: '/list/-', old: 'four', reason: 'a test' };
    t.throws(() => applyChanges('sample', before, [item]), /no such item/);
  });
});

/**
 * The snapshot as the recorded changes make it. Throws where a change does not fit: its old value is not that of the
 * snapshot.
 */
function applyChanges(name: string, snapshot: unknown, changes: readonly InterfaceChange[]): unknown {
  const changed = structuredClone(snapshot);
  for (const change of changes.filter((one) => one.snapshot === name)) {
    const misfit = (why: string): Error =>
      new Error(`changes.json: \`${change.path}\` of \`${name}\` does not fit: ${why}`);
    if (change.reason.trim() === '') throw misfit('it has no reason');
    const keys = change.path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    const parent = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), changed);
    if (Array.isArray(parent) && last === '-') {
      const at = parent.findIndex((item) => isDeepStrictEqual(item, change.old));
      if ('old' in change && at === -1) throw misfit('the list of bc4e9f22 has no such item');
      if ('old' in change) parent.splice(at, 1);
      if ('new' in change) parent.push(change.new);
      continue;
    }
    if (!isObject(parent) || Array.isArray(parent)) throw misfit('bc4e9f22 has nothing there');
    const before = Object.hasOwn(parent, last) ? parent[last] : undefined;
    if (!isDeepStrictEqual(before, change.old)) throw misfit(`bc4e9f22 has ${JSON.stringify(before)} there`);
    if ('new' in change) parent[last] = change.new;
    else delete parent[last];
  }
  return changed;
}

/** Every place where two values differ. A list is a set: its order says nothing. */
function differences(snapshot: string, expected: unknown, actual: unknown, path = ''): readonly Difference[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const without = (some: readonly unknown[], others: readonly unknown[]) =>
      some.filter((one) => !others.some((other) => isDeepStrictEqual(one, other)));
    const [gone, come] = [without(expected, actual), without(actual, expected)];
    // As many new objects as old ones: compare them in pairs, each at the index of the old one.
    if (
      gone.length === come.length &&
      [...gone, ...come].every((one) => isObject(one) && !Array.isArray(one))
    )
      return gone.flatMap((item, index) =>
        differences(snapshot, item, come[index], `${path}/${expected.indexOf(item)}`),
      );
    return [
      ...gone.map((item) => ({ snapshot, path: `${path}/-`, old: item })),
      ...come.map((item) => ({ snapshot, path: `${path}/-`, new: item })),
    ];
  }
  if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) || Array.isArray(actual))
    return [{ snapshot, path, old: expected, new: actual }];
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  return [...keys].flatMap((key): readonly Difference[] => {
    const inner = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(actual, key)) return [{ snapshot, path: inner, old: expected[key] }];
    if (!Object.hasOwn(expected, key)) return [{ snapshot, path: inner, new: actual[key] }];
    return differences(snapshot, expected[key], actual[key], inner);
  });
}

/** What a reader does about a difference: revert the change of the interface, or record it. */
function explain({ snapshot, path, ...values }: Difference): string {
  const entry = { snapshot, path, ...values, reason: '…' };
  const shown = (side: 'old' | 'new'): string => (side in values ? JSON.stringify(values[side]) : 'absent');
  return [
    `Snapshot \`${snapshot}\`, \`${path}\`: bc4e9f22 (with changes.json) has ${shown('old')}, the program has ${shown('new')}.`,
    'If the change is intended, add this to `interfaces` in fixtures/compatibility/changes.json with its reason,',
    'or correct the entry that is there:',
    JSON.stringify(entry),
  ].join('\n');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
