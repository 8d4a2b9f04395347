/* The entries of a plugin's manifest, as shapes: parts by kind, needs, options and the places it may use. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { serviceUrlFault } from '../../core/base/http-question.ts';
import { nearestName, quoted } from '../../core/base/printable.ts';
import {
  anything,
  as,
  flag,
  list,
  nameOf,
  number,
  object,
  oneOf,
  type Schema,
  SchemaFault,
  type TypeOf,
  text,
  where,
  withDefault,
} from '../../core/base/schema.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { readNetworkHost } from '../../spec/checks-of.ts';
import { type PluginPackage, packagePathFault } from './plugin-package.ts';

/** User directories with a `writ` directory of ours: the variable that names the parent, and its default. */
const userDirectories = {
  XDG_CONFIG_HOME: '.config',
  XDG_DATA_HOME: '.local/share',
  XDG_STATE_HOME: '.local/state',
  XDG_CACHE_HOME: '.cache',
} as const;

/** Below a home, folded: keys, vaults, what is trusted. */
const ownBelowHome = Object.values(userDirectories).map((directory) => `${directory}/writ`);

/** In a repository: its vault is there. */
const ownAnywhere = /(?:^|\/)(?:\.writ|\.git\/writ)(?:\/|$)/;

/** Whether a path below the home (without `~/`) leads by its name into what is writ's own, on any file system. */
function isOwnPlace(path: string): boolean {
  const folded = path.normalize('NFKC').toLowerCase().split('/').filter(Boolean).join('/');
  return (
    ownAnywhere.test(folded) || ownBelowHome.some((own) => folded === own || folded.startsWith(`${own}/`))
  );
}

/**
 * Returns the real path of a user's file: every link before its last name is followed. Throws PLUGIN_FILE_REFUSED for
 * writ's own files, under any name. Returns `undefined` if its directory does not exist.
 */
export async function ownFilePlace(
  env: Readonly<Record<string, string | undefined>>,
  path: string,
): Promise<string | undefined> {
  const home = env.HOME ?? '';
  if (!isAbsolute(home)) return undefined;
  const below = path.replace(/^~\//, '');
  const place = join(home, below);
  const directory = await realpath(dirname(place)).catch(() => undefined);
  if (directory === undefined) return undefined;
  const found = join(directory, basename(place));
  const own = await identitiesOf(ownDirectories(env, home));
  const isOwn = async (): Promise<boolean> => {
    for (let one = directory; ; one = dirname(one)) {
      if ((await identitiesOf([one])).some((identity) => own.includes(identity))) return true;
      if (one === dirname(one)) return false;
    }
  };
  // Two names of one directory may differ in case, or be mounts; the file system identifies them as one.
  const names = await stat(found).then(
    ({ nlink }) => nlink,
    () => 1,
  );
  // A file with a second name may have it anywhere.
  if (names > 1 || isOwnPlace(below) || isOwnPlace(found.slice(1)) || (await isOwn()))
    throw new WritError('PLUGIN_FILE_REFUSED', {
      message:
        names > 1
          ? `\`${path}\` has ${names} names (hard links), and may be a key of writ: no plugin is handed it`
          : `\`${path}\` lies in a directory of writ itself, where keys and vaults are: no plugin is handed it`,
      detail: { path },
    });
  return found;
}

function ownDirectories(env: Readonly<Record<string, string | undefined>>, home: string): readonly string[] {
  return Object.entries(userDirectories).flatMap(([variable, usual]) => {
    const named = env[variable] ?? '';
    return [join(home, usual, 'writ'), ...(isAbsolute(named) ? [join(named, 'writ')] : [])];
  });
}

async function identitiesOf(directories: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    directories.map((one) => stat(one, { bigint: true }).catch(() => undefined)),
  );
  return found.flatMap((status) => (status === undefined ? [] : [`${status.dev}:${status.ino}`]));
}

/** A fault of a manifest in its own words, at a place below the entry that is read. */
export function faultAt(path: readonly (string | number)[], message: string): SchemaFault {
  return new SchemaFault(message, { path, expected: message, found: undefined });
}

/** Names of plugins and of what they bring. */
export const kebabCase = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** Letters of such a name. */
export const maxName = 64;

const maxReads = 64;
const maxTimeoutSeconds = 600;
const defaultSeconds = 60;

export function kebabName(wanted: string): Schema<string> {
  return where(text(maxName), `${wanted} in kebab-case`, (name) => kebabCase.test(name), quoted);
}

/** The module of a part: a file of the package. */
export function moduleOf({ files }: PluginPackage): Schema<string> {
  return as(text(255), (given) => {
    const module = given.replace(/^\.\//, '');
    if (packagePathFault(module) === undefined && /\.(?:[cm]?js|m?ts)$/.test(module) && files.has(module))
      return module;
    throw new TypeError('expected `module` to be a JavaScript or TypeScript file of the package');
  });
}

/** For one answer. */
export const timeoutSeconds = where(
  number,
  `\`timeoutSeconds\` within 0 and ${maxTimeoutSeconds}`,
  (seconds) => seconds > 0 && seconds <= maxTimeoutSeconds,
);
const partSeconds = withDefault(timeoutSeconds, defaultSeconds);

/** Globs over paths. */
export const reads = list(text(1024), maxReads);

/** What every part has. `kind` has its article. */
function partOf(kind: string, pluginPackage: PluginPackage) {
  return { name: kebabName(`the \`name\` of ${kind}`), module: moduleOf(pluginPackage) };
}

const mediaType =
  /^(?:application|audio|font|image|model|text|video)\/[a-z0-9][a-z0-9.+-]{0,48}(?:; charset=utf-8)?$/;

/** A producer of artifacts: `[artifacts.<name>] plugin` names it, its module exports `produce`. */
export const artifactPart = (pluginPackage: PluginPackage) =>
  object('an artifact', {
    ...partOf('an artifact', pluginPackage),
    contentType: where(text(64), 'to be a media type in lower case', (type) => mediaType.test(type)),
    extension: where(text(16), 'to be a file ending without the dot', (end) => /^[a-z0-9]+$/.test(end)),
    /** It receives the content of these files of the candidate. */
    reads: withDefault(reads, []),
    timeoutSeconds: partSeconds,
  });
export type ManifestArtifact = TypeOf<ReturnType<typeof artifactPart>>;

/** An evidence policy: `[evidence] plugins` names it, its module exports `judge`, and `refuseRetrieval` if declared. */
export const evidencePart = (pluginPackage: PluginPackage) =>
  object('an evidence policy', {
    ...partOf('an evidence policy', pluginPackage),
    /** Whether it may refuse a retrieval from outside the repository. */
    refusesRetrieval: withDefault(flag, false),
    timeoutSeconds: partSeconds,
  });
export type ManifestEvidence = TypeOf<ReturnType<typeof evidencePart>>;

/** A transparency log: `[log] plugin` names it, its module exports `append` and `size`. */
export const logPart = (pluginPackage: PluginPackage) =>
  object('a log', {
    ...partOf('a log', pluginPackage),
    /** The module exports `consistency` as well: it proves how the log grew. */
    consistency: withDefault(flag, false),
  });
export type ManifestLog = TypeOf<ReturnType<typeof logPart>>;

/** A model backend: `--provider` names it, its module exports `ask`. */
export const providerPart = (pluginPackage: PluginPackage) =>
  as(
    object(
      'a provider',
      {
        ...partOf('a provider', pluginPackage),
        base: as(text(2048), (base) => {
          const fault = serviceUrlFault(base);
          if (fault !== undefined) throw new TypeError(`\`base\`: ${fault}`);
          return base.replace(/\/{1,8}$/, '');
        }),
        defaultModel: text(200),
        /** Names of its key, each among the plugin's secrets; none: it has no key. */
        keys: withDefault(list(text(128), 8), []),
      },
      { title: text(64) },
    ),
    (part) => ({ ...part, title: part.title ?? part.name }),
  );
export type ManifestProvider = TypeOf<ReturnType<typeof providerPart>>;

const stage = where(
  anything,
  `one of ${stageNames.join(', ')}`,
  (found) => stageNames.some((name) => name === found),
  (found) => (typeof found === 'string' ? `${quoted(found)}${meantBy(found)}` : nameOf(found)),
) as Schema<(typeof stageNames)[number]>;

function meantBy(typed: string): string {
  const meant = nearestName(typed, stageNames);
  return meant === undefined ? '' : `, did you mean \`${meant}\`?`;
}

/** A check of the gate stages: its findings bear its name as their rule, its module exports `judge`. */
export const stageCheckPart = (pluginPackage: PluginPackage) =>
  object('a stage check', {
    ...partOf('a stage check', pluginPackage),
    /** Stages that run it, for every spec. */
    stages: where(
      withDefault(list(stage, stageNames.length), []),
      `\`stages\` to name one or more of ${stageNames.join(', ')}, each once`,
      (stages) => stages.length > 0 && new Set(stages).size === stages.length,
    ),
    /** Whether it receives the diff. */
    readsDiff: withDefault(flag, false),
    timeoutSeconds: partSeconds,
  });
export type ManifestStageCheck = TypeOf<ReturnType<typeof stageCheckPart>>;

function names(most: number, expected: string, isName: (name: string) => boolean) {
  return as(withDefault(list(text(253), most), []), (given) => {
    const wrong = given.findIndex((name, at) => !isName(name) || given.indexOf(name) !== at);
    if (wrong < 0) return given;
    throw faultAt([wrong], `expected ${expected}, each once, found ${JSON.stringify(given[wrong])}`);
  });
}

/**
 * Resources that a plugin receives in addition to its own files. All are declared, so a user who trusts the digest
 * has read them.
 */
export const needMembers = {
  /** Entries as in `networkHosts`. */
  hosts: names(32, 'a host name, perhaps with `*.` before it and a port after it', isHost),
  secrets: names(16, 'the name of an environment variable', isSecretName),
  /** Files of the user's own, `~/…`. */
  files: as(names(16, 'a path that begins with `~/`, without `..`', isOwnFile), (files) => {
    const own = files.findIndex((path) => isOwnPlace(path.slice('~/'.length)));
    if (own < 0) return files;
    throw faultAt(
      [own],
      `${JSON.stringify(files[own])} lies in a directory of writ itself, where keys and vaults are: no plugin is handed it`,
    );
  }),
};
export const needsShape = object('needs', needMembers);
export type PluginNeeds = TypeOf<typeof needsShape>;

/** Returns each of them as text, for `writ plugin list` and `writ plugin trust`. */
export function needsInWords({ hosts, secrets, files }: PluginNeeds): readonly string[] {
  return [
    ...hosts.map((host) => `connects to ${host}`),
    ...secrets.map((name) => `is handed the secret ${name}`),
    ...files.map((path) => `reads ${path}`),
  ];
}

/** A name of the network; an address, and `localhost`, lead to no public host. */
function isHost(text: string): boolean {
  const host = readNetworkHost(text);
  return host !== undefined && /^[\x21-\x7e]+$/.test(text) && /\.[a-z][a-z0-9-]*$/.test(host.pattern);
}

function isSecretName(text: string): boolean {
  return /^[A-Z][A-Z0-9_]{0,127}$/.test(text);
}

function isOwnFile(text: string): boolean {
  return /^~\/[^\p{Cc}\\]+$/u.test(text) && !text.split('/').some((part) => part === '..' || part === '.');
}

type OptionValue = string | number | boolean;

const maxText = 4096;

const optionMembers = object(
  'an option',
  { name: text(64), type: oneOf('string', 'number', 'boolean'), says: text(500) },
  { values: list(anything), default: anything },
);

/** One option of a plugin, as its manifest declares it. */
export interface ManifestOption extends Omit<TypeOf<typeof optionMembers>, 'values' | 'default'> {
  /** The only ones there are; absent: any of the type. */
  readonly values?: readonly OptionValue[];
  /** Absent: if the option is not set, the plugin receives no value. */
  readonly default?: OptionValue;
}

export const optionEntry: Schema<ManifestOption> = as(
  optionMembers,
  ({ values: given, default: usual, ...option }) => {
    if (!kebabCase.test(option.name.replaceAll('_', '-')))
      throw new TypeError('expected the `name` of an option in lower case, with `-` or `_`');
    const values = given?.map((one, at) => {
      if (isOfType(option, one)) return one;
      throw faultAt(['values', at], `option \`${option.name}\`: expected a ${option.type}`);
    });
    const whole = { ...option, ...(values !== undefined && { values }) };
    return { ...whole, ...(usual !== undefined && { default: toValue(whole, usual) }) };
  },
);

/**
 * Returns the options of a plugin, from its `[[plugins]]` entry or else the declared default. Throws for an
 * undeclared option and for a value that it does not allow.
 */
export function readOptions(declared: readonly ManifestOption[], given: Readonly<Record<string, unknown>>) {
  const stray = Object.keys(given).find((name) => !declared.some((option) => option.name === name));
  if (stray !== undefined) {
    const names = declared.map(({ name }) => `\`${name}\``).join(', ');
    throw new TypeError(
      `expected ${names === '' ? 'no option' : `one of ${names}`}, found ${JSON.stringify(stray)}`,
    );
  }
  return Object.fromEntries(
    declared.flatMap((option) => {
      const value = given[option.name] ?? option.default;
      return value === undefined ? [] : [[option.name, toValue(option, value)]];
    }),
  );
}

function isOfType({ type }: Pick<ManifestOption, 'type'>, value: unknown): value is OptionValue {
  return typeof value === type && (typeof value !== 'string' || value.length <= maxText);
}

function toValue(option: Omit<ManifestOption, 'says'>, value: unknown): OptionValue {
  const { name, type, values } = option;
  if (isOfType(option, value) && (values === undefined || values.includes(value))) return value;
  const expected =
    values === undefined ? `a ${type}` : `one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;
  throw new TypeError(`option \`${name}\`: expected ${expected}`);
}
