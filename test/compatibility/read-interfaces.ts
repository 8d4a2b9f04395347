/**
 * Reads each public interface of writ, one function per snapshot. Whatever the running program does not reveal comes
 * from a table of the product: these are the only lines below `test/compatibility/` that name its files, so a table that
 * moves is changed here, and the snapshots stay as they are.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { outputSchemas } from '../../api/schemas/output-schemas.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { commands } from '../../bin/command-table.ts';
import { globalOptions } from '../../bin/help.ts';
import { systemClock } from '../../core/base/clock.ts';
import { errorCatalogue } from '../../core/base/error-codes.ts';
import { isWritError } from '../../core/base/errors.ts';
import { listHooks } from '../../core/kernel/hooks.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { parseConfig } from '../../engine/config/config.ts';
import { storedPatterns } from '../../engine/upkeep/stored-ref.ts';
import { openEngine } from '../../plugins/preset/open-engine.ts';
import { readManifest } from '../../plugins/third-party/plugin-manifest.ts';
import { toPluginPackage } from '../../plugins/third-party/plugin-package.ts';
import { builtInTypes } from '../../service/run-publisher.ts';
import { methodRoutes } from '../../session/client/session-requests.ts';
import { slashCommands } from '../../session/state/slash-words.ts';
import { sealObject } from '../../store/stored-object.ts';
import { storeRefs } from '../../store/stores.ts';
import { runLine } from '../bin/host.ts';
import { packPackage } from '../doors/packed-package.ts';
import { readExports, type WrittenExports } from './declared-types.ts';
import type { Words } from './shape-words.ts';

const root = resolve(import.meta.dirname, '../..');

/** A snapshot: JSON. */
export type Snapshot = Readonly<Record<string, unknown>>;

/**
 * The types of the four entry points of the package, and, as `session-types`, what the session's API sends: its
 * snapshot, and the kinds of events of its second wire.
 */
export function readDeclarations(): Readonly<Record<string, WrittenExports>> {
  const dist = join(packPackage(), 'dist');
  const entryPoints = ['index', 'plugin', 'testing', 'verify'];
  const inner = [
    { file: join(dist, 'session/state/snapshot.d.ts'), names: ['Snapshot'] },
    { file: join(dist, 'session/api/event-streams.d.ts'), names: ['ChangeKind'] },
  ];
  const files = entryPoints.map((name) => join(dist, `${name}.d.ts`));
  const written = readExports(files, inner, join(root, 'node_modules/@types'));
  return {
    ...Object.fromEntries(entryPoints.map((name, index) => [`declarations-${name}`, written[index] ?? {}])),
    'session-types': Object.assign({}, ...written.slice(entryPoints.length)),
  };
}

/** The JSON Schema of the `data` of each command, as `writ schema COMMAND` prints it. */
export async function readOutputSchemas(): Promise<Snapshot> {
  const schemas: Record<string, unknown> = {};
  for (const command of Object.keys(outputSchemas).sort()) {
    const { code, out, err } = await runLine(['schema', ...command.split(' ')], commands);
    if (code !== 0) throw new Error(`writ schema ${command} ended with ${code}: ${err}`);
    schemas[command] = JSON.parse(out);
  }
  return schemas;
}

/** What can be typed: each command with its arguments and options, and the options of all of them. */
export function readCommands(): Snapshot {
  const option = ({ name, about: _, group: __, ...rest }: (typeof globalOptions)[number]) =>
    [name, rest] as const;
  const own = commands.map((command) => [
    command.name,
    {
      arguments: command.arguments.map(({ about: _, ...rest }) => rest),
      options: Object.fromEntries(command.options.map(option)),
      ...(command.streams === undefined ? {} : { streams: command.streams }),
    },
  ]);
  return { 'every command': Object.fromEntries(globalOptions.map(option)), ...Object.fromEntries(own) };
}

/** The keys of `.writ/config.toml`, found by asking: an unknown key is refused with the names of the known ones. */
export function readConfigKeys(): Snapshot {
  const describe = (path: readonly string[]): unknown => {
    const asTable = refusalAt(path, strayTable);
    const known = knownIn(asTable);
    if (known !== undefined) return Object.fromEntries(known.map((key) => [key, describe([...path, key])]));
    if (/expected a list/.test(asTable)) {
      const item = knownIn(refusalAt([...path, '[]'], strayTable));
      if (item !== undefined)
        return { '[]': Object.fromEntries(item.map((key) => [key, describe([...path, '[]', key])])) };
      return kindsIn(asTable, refusalAt([...path, '[]'], '0'));
    }
    // A table with free names has no unknown key: its refusal is about the value.
    if (asTable.includes('expected a table, found a number')) return { '[name]': describe([...path, stray]) };
    return kindsIn(asTable, refusalAt(path, `'${stray}'`));
  };
  return Object.fromEntries((knownIn(refusalAt([], strayTable)) ?? []).map((key) => [key, describe([key])]));
}

/** A key that no table has. */
const stray = 'no-such-key-of-writ';
const strayTable = `{ ${stray} = 0 }`;

/** What is refused of a configuration that has this value (TOML) at a path, and nothing else; `[]` is a list. */
function refusalAt(path: readonly string[], value: string): string {
  const inner = path.reduceRight((text, key) => (key === '[]' ? `[${text}]` : `{ ${key} = ${text} }`), value);
  const line = inner.replace(/^\{ (.*) \}$/, '$1');
  try {
    parseConfig(Buffer.from(`${line}\n`), sealingForms);
  } catch (fault) {
    if (!isWritError(fault, 'CONFIG_INVALID')) throw fault;
    const at = path.join('.').replaceAll('.[]', '[0]');
    const issues = fault.detail.issues as readonly { readonly path: string; readonly message: string }[];
    const own = issues.filter(
      ({ path: one }) => at === '' || one === at || /^[.[]/.test(one.slice(at.length)),
    );
    return own
      .filter(({ path: one }) => one.startsWith(at))
      .map(({ message }) => message)
      .join('; ');
  }
  return '';
}

/** The kinds of value that refusals say they expected, each once; what else they say is no interface. */
function kindsIn(...refusals: readonly string[]): string {
  const kind =
    /^(?:a string|a list|a table|true or false|an integer from .*|a number from .*|one of .*|`.*`|an absolute URL)$/;
  const expected = refusals
    .flatMap((refusal) => refusal.split('; '))
    .map((one) => one.replace(/, found .*/, '').replace(/^expected /, ''));
  return [...new Set(expected.filter((one) => kind.test(one)))].join('; ');
}

/** The names that a refusal of an unknown member lists; absent where it lists none. */
function knownIn(message: string): readonly string[] | undefined {
  const [, list] = /\(known here: ([^)]*)\)/.exec(message) ?? [];
  return list
    ?.split(', ')
    .map((name) => name.replaceAll('`', ''))
    .sort();
}

/**
 * Names of environment variables in the program as it is shipped, of which no comment is left: members of an
 * environment (`env2` where a bundle has several), and words that are named like a variable. Those that writ sets for
 * checks and for git are among them.
 */
export function readEnvironment(): Snapshot {
  const dist = join(packPackage(), 'dist');
  const found = new Set<string>();
  for (const file of globSync('**/*.{js,cjs}', { cwd: dist, exclude: ['fixtures/**'] })) {
    // Lines of the package are short: a string may go on behind a backslash at the end of one, a list in the next line.
    const text = readFileSync(join(dist, file), 'latin1').replaceAll('\\\n', '');
    for (const [, name = ''] of text.matchAll(/\benv\d*(?:\?)?\.\s*([A-Z][A-Z0-9_]+)\b/g)) found.add(name);
    for (const [, list = ''] of text.matchAll(/\{([^{}]*)\}=[\w.]*\benv\d*\b/g))
      for (const [name] of list.matchAll(/\b[A-Z][A-Z0-9_]{2,}(?=:)/g)) found.add(name);
    for (const [, name = ''] of text.matchAll(/["'{,]\n?([A-Z][A-Z0-9_]+)(?=["':])/g))
      if (isVariable.test(name) && !Object.hasOwn(errorCatalogue, name)) found.add(name);
  }
  return { variables: [...found].sort() };
}

const isVariable = new RegExp(
  [
    '^(?:ACTIONS|ASDF|DBUS|GIT|GO|INTENTSPEC|MISE|NODE|NVM|OLLAMA|PATCHSET|PYENV|RUST|RUSTUP|SIGSTORE|SSH|SSL|WRIT|XDG)_[A-Z0-9_]+$',
    '_(?:API_KEY|BASE_URL|PROXY|HOME)$',
    '^(?:BASE_SHA|CI|DISPLAY|EDITOR|EMAIL|FORCE_COLOR|HOME|LANG|LC_ALL|LOGNAME|NO_COLOR|PATH|REPORTS_DIR|RUN_ID|TERM|TMPDIR|TZ|USER|VISUAL|WAYLAND_DISPLAY|WORKSPACE|XAUTHORITY)$',
  ].join('|'),
);

/** The members of a plugin's manifest (`writ` in `package.json`), found by asking as for the configuration. */
export function readPluginManifest(): Snapshot {
  const refusal = (own: object): string => {
    const manifest = { name: 'sample', version: '1.0.0', writ: { api: 1, ...own } };
    const files = [
      ['package.json', Buffer.from(JSON.stringify(manifest))],
      ['part.js', Buffer.from('')],
    ] as const;
    try {
      readManifest(toPluginPackage(files, 'sample'), 'sample');
    } catch (fault) {
      if (isWritError(fault, 'PLUGIN_INVALID')) return fault.message;
      throw fault;
    }
    return '';
  };
  const members = knownIn(refusal({ [stray]: 0 })) ?? [];
  const described = members.map((member) => {
    const inner = knownIn(refusal({ [member]: [{ [stray]: 0 }] }));
    return [member, inner === undefined ? 'value' : { '[]': inner }] as const;
  });
  return Object.fromEntries(described);
}

/** Types of the events of `writ service`, and the methods and routes of `writ code-control`. */
export function readEventsAndMethods(): Snapshot {
  return {
    'service events': [...builtInTypes].sort(),
    'control methods': {
      ...Object.fromEntries(
        Object.entries(methodRoutes).map(([method, { route, query }]) => [method, { route, query }]),
      ),
      'events.subscribe': {},
      'events.unsubscribe': {},
    },
    'session commands': Object.fromEntries(slashCommands.map(({ form, name }) => [form, { name }])),
  };
}

/** Names of refs, and the fields of every object that is stored below them. */
export async function readStored(): Promise<Snapshot> {
  const { runs, ...refs } = storeRefs('refs/ai/');
  const names = Object.entries(refs).map(([name, refOf]) => [name, refOf('ID')] as const);
  const sealed = sealObject(
    'run_event',
    { run: sampleId, kind: 'sample', data: {} },
    { nowMs: 0, createdBy: { kind: 'system', id: 'writ' } },
  );
  const { run: _run, kind: _kind, data: _data, ...header } = sealed.object;
  return {
    refs: { runs, ...Object.fromEntries(names) },
    'travelling refs': [...storedPatterns],
    'path of an object': sealed.path.replace(sealed.object.object_id, 'ID'),
    'fields of every object': Object.keys(header).sort(),
    objects: await objectShapes(),
  };
}

const sampleId = '01890000-0000-7000-8000-000000000000';

/** The tables of shapes, loaded once more with `shape-words.ts` in the place of the module that makes checks. */
async function objectShapes(): Promise<Readonly<Record<string, Words>>> {
  const shapes = new URL('../../store/object-shapes.ts', import.meta.url).href;
  const checks = new URL('../../store/shape.ts', import.meta.url).href;
  const words = new URL('./shape-words.ts', import.meta.url).href;
  const store = new URL('../../store/', import.meta.url).href;
  const mark = '?words';
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (context.parentURL?.endsWith(mark) !== true) return found;
      if (found.url === checks) return { ...found, url: words };
      return found.url.startsWith(store) ? { ...found, url: `${found.url}${mark}` } : found;
    },
  });
  try {
    const { objectShapes: described } = await import(`${shapes}${mark}`);
    return described;
  } finally {
    hooks.deregister();
  }
}

/** JSON Schemas that the package publishes: the IntentSpec, and those of `docs/schemas`. */
export async function readPublishedSchemas(): Promise<Snapshot> {
  const { code, out, err } = await runLine(['spec', 'schema'], commands);
  if (code !== 0) throw new Error(`writ spec schema ended with ${code}: ${err}`);
  const directory = join(packPackage(), 'docs', 'schemas');
  const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
  const published = files.map(
    (name) => [name, JSON.parse(readFileSync(join(directory, name), 'utf8'))] as const,
  );
  return { 'writ spec schema': JSON.parse(out), ...Object.fromEntries(published) };
}

/** Error codes with their HTTP status and exit code, and the exit codes that the help lists. */
export async function readCodes(): Promise<Snapshot> {
  const { out } = await runLine(['--help'], commands);
  const [, listed = ''] = /\nExit codes: ([\s\S]*)$/.exec(out) ?? [];
  const codes = Object.entries(errorCatalogue).map(([code, { family, http, exit }]) => [
    code,
    { family, http, exit },
  ]);
  return {
    errors: Object.fromEntries(codes),
    'exit codes': [...listed.matchAll(/(?:^|[\n ,])(\d+) /g)].map(([, code]) => code).sort(),
  };
}

/** What plugins meet: hooks with their kinds, slots with the names in them; and the rules and providers of writ. */
export async function readExtensionPoints(): Promise<Readonly<Record<string, Snapshot>>> {
  // Nothing runs in a thread: rules and providers are only listed.
  const pool = { threads: 1, close: async () => {} } as Partial<WorkerPool> as WorkerPool;
  await using engine = await openEngine({
    env: {},
    ephemeralKey: true,
    clock: systemClock,
    report: (fault) => {
      throw fault;
    },
    pool,
  });
  const { hooks, slots, rules } = engine;
  const ruleFacts: Record<string, unknown> = {};
  for (const id of rules.ids) {
    const { point, scan, text, timeoutSeconds, rows } = rules.get(id) ?? {};
    const level = text?.level ?? 'error';
    const rowIds = ((await rows?.()) ?? []).map((row) => row.id).sort();
    ruleFacts[id] = { point, scan, level, timeoutSeconds, rows: rowIds };
  }
  const providers: Record<string, unknown> = {};
  for (const name of slots.provider.names) {
    const { title, keys, base, baseVariables, defaultModel, flags, settings } =
      await slots.provider.pick(name);
    const named = flags.map(({ name: flag, says: _, ...rest }) => [flag, rest] as const);
    providers[name] = {
      title,
      keys,
      base,
      baseVariables,
      defaultModel,
      flags: Object.fromEntries(named),
      settings,
    };
  }
  return {
    'extension-points': {
      hooks: Object.fromEntries(listHooks(hooks).map(({ name, kind }) => [name, kind])),
      slots: Object.fromEntries(Object.entries(slots).map(([name, slot]) => [name, [...slot.names].sort()])),
    },
    rules: ruleFacts,
    providers,
  };
}
