import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { longTest } from '../rooms/long-test.ts';
import { partVariable } from '../rooms/part-variable.ts';
import { applyChanges, differences, explain, type InterfaceChange } from './compare-snapshots.ts';
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
import { readService, readSession } from './serve-packed.ts';

t.setTimeout(600_000);

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

/** What takes a session: `npm run test:long`. */
const longReaders: typeof readers = {
  'routes, events and MCP tools of a session': async () => {
    const { routes, mcp, eventTypes } = await readSession();
    return { 'session-routes': routes, mcp, 'session-events': { types: eventTypes } };
  },
};

/** Snapshots that a reader has answered. */
const seen = new Set<string>();

for (const [what, read] of Object.entries(readers))
  t.test(`${what} are those of bc4e9f22, but for recorded changes`, compare(read));
for (const [what, read] of Object.entries(longReaders))
  longTest(`${what} are those of bc4e9f22, but for recorded changes`, compare(read));

t.test('every recorded change is of a snapshot, and every snapshot is compared', async (t) => {
  const names = readdirSync(directory).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);
  t.strictSame(
    recorded.interfaces.filter(({ snapshot }) => !names.includes(snapshot)),
    [],
  );
  const isWhole = process.env[partVariable] === undefined;
  if (isWhole)
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

t.test('a difference', async (t) => {
  const before = { keys: { a: 'text', b: 'number' }, list: ['one', 'two'] };

  await t.test('is found where a value changes, comes or goes', async (t) => {
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
  });

  await t.test('is none once it is recorded, and a recorded one that is none is found', async (t) => {
    const after = { keys: { a: 'list', 'c/d': 'text' }, list: ['two', 'three'] };
    const changes = differences('sample', before, after).map((one) => ({ ...one, reason: 'a test' }));
    t.strictSame(differences('sample', applyChanges('sample', before, changes), after), []);
    t.equal(differences('sample', applyChanges('sample', before, changes), before).length, changes.length);
  });

  await t.test('cannot be recorded with another old value, or without a reason', async (t) => {
    const change = { snapshot: 'sample', path: '/keys/a', old: 'list', new: 'map', reason: 'a test' };
    t.throws(() => applyChanges('sample', before, [change]), /does not fit: bc4e9f22 has "text" there/);
    t.throws(() => applyChanges('sample', before, [{ ...change, old: 'text', reason: '' }]), /no reason/);
    const item = { snapshot: 'sample', path: '/list/-', old: 'four', reason: 'a test' };
    t.throws(() => applyChanges('sample', before, [item]), /no such item/);
  });
});
