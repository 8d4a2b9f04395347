import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import {
  appendPointer,
  type Fields,
  nameOf,
  parseList,
  parseText,
  parseWord,
  toFields,
  toPointer,
} from '../../core/base/json-pointer.ts';
import { nearestName, quoted } from '../../core/base/printable.ts';
import { serviceUrlFault } from '../../core/base/service-url.ts';
import { type StageName, stageNames } from '../../core/interfaces/stage.ts';
import { readNetworkHost } from '../../spec/checks-of.ts';
import { isOwnPlace } from './own-places.ts';
import { opensHost } from './plugin-access.ts';
import { type PluginPackage, packagePathFault } from './plugin-package.ts';

/** Reads a member; what that throws becomes PLUGIN_INVALID with the `pointer` to it (RFC 6901), from here on. */
export function atMember<T>(member: string | number, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const { pointer = '' } = isWritError(cause, 'PLUGIN_INVALID') ? cause.detail : {};
    throw faultAt(`${appendPointer('', member)}${pointer}`, messageOf(cause), cause);
  }
}

/** PLUGIN_INVALID: what is wrong at a place of a document. */
export function faultAt(pointer: string, message: string, cause?: unknown): WritError {
  return new WritError('PLUGIN_INVALID', { message, detail: { pointer }, cause });
}

/** A member that is a list, each entry read at its place; absent: none. */
export function listAt<T>(
  fields: Fields,
  field: string,
  read: (item: unknown) => T,
  most?: number,
): readonly T[] {
  let index = -1;
  return atMember(field, () =>
    parseList(
      fields[field] ?? [],
      (item) => {
        index += 1;
        return atMember(index, () => read(item));
      },
      most,
    ),
  );
}

/**
 * Returns the fields of a manifest object. Throws for a field outside `known`; the message suggests the intended name
 * and lists the known ones.
 */
export function membersOf(value: unknown, wanted: string, known: readonly string[]): Fields {
  const fields = toFields(value, wanted);
  const stray = Object.keys(fields).find((field) => !known.includes(field));
  if (stray === undefined) return fields;
  throw new TypeError(
    `expected ${wanted}, got the unknown field ${quoted(stray)}${meantBy(stray, known)} (known here: ${known.map((name) => `\`${name}\``).join(', ')})`,
  );
}

/** An entry of a list that is one of `words`. */
function wordOf<W extends string>(value: unknown, words: readonly W[]): W {
  const word = words.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const found = typeof value === 'string' ? `${quoted(value)}${meantBy(value, words)}` : nameOf(value);
  throw new TypeError(`expected one of ${words.join(', ')}, got ${found}`);
}

function meantBy(typed: string, known: readonly string[]): string {
  const meant = nearestName(typed, known);
  return meant === undefined ? '' : `, did you mean \`${meant}\`?`;
}

/** A producer of artifacts as the manifest declares it. */
export interface ManifestArtifact {
  /** What `[artifacts.<name>] plugin` names it by. */
  readonly name: string;
  /** Exports `produce`. */
  readonly module: string;
  /** The media type of what it makes, and its file ending without the dot. */
  readonly contentType: string;
  readonly extension: string;
  /** Globs over paths of the candidate: it receives the content of these files. */
  readonly reads: readonly string[];
  readonly timeoutSeconds: number;
  /** Whether its plugin reaches anybody. */
  readonly hasHosts: boolean;
}

const maxReads = 64;
const mediaType =
  /^(?:application|audio|font|image|model|text|video)\/[a-z0-9][a-z0-9.+-]{0,48}(?:; charset=utf-8)?$/;

/** Reads one; throws on nonsense. */
export function parseArtifact(
  item: unknown,
  pluginPackage: PluginPackage,
  { hosts }: PluginNeeds,
): ManifestArtifact {
  const more = ['contentType', 'extension', 'reads', 'timeoutSeconds'];
  const part = parsePart(item, 'an artifact', more, pluginPackage);
  const { name, module, what, fields } = part;
  const contentType = parseText(fields, 'contentType', 64);
  if (!mediaType.test(contentType))
    throw new TypeError(`${what}: expected \`contentType\` to be a media type in lower case`);
  const extension = parseText(fields, 'extension', 16);
  if (!/^[a-z0-9]+$/.test(extension))
    throw new TypeError(`${what}: expected \`extension\` to be a file ending without the dot`);
  return {
    name,
    module,
    contentType,
    extension,
    reads: listAt(fields, 'reads', (reads) => parseText({ reads }, 'reads', 1024), maxReads),
    timeoutSeconds: partSeconds(part),
    hasHosts: hosts.length > 0,
  };
}

/** An evidence policy as the manifest declares it. */
export interface ManifestEvidence {
  /** What `[evidence] plugins` names it by. */
  readonly name: string;
  /** Exports `judge`, and `refuseRetrieval` if it is declared. */
  readonly module: string;
  /** Whether it may refuse a retrieval from outside the repository. */
  readonly refusesRetrieval: boolean;
  /** For one answer. */
  readonly timeoutSeconds: number;
  /** Whether its plugin reaches anybody. */
  readonly hasHosts: boolean;
}

/** Reads one; throws on nonsense. */
export function parseEvidence(
  item: unknown,
  pluginPackage: PluginPackage,
  { hosts }: PluginNeeds,
): ManifestEvidence {
  const more = ['refusesRetrieval', 'timeoutSeconds'];
  const part = parsePart(item, 'an evidence policy', more, pluginPackage);
  return {
    name: part.name,
    module: part.module,
    refusesRetrieval: partFlag(part, 'refusesRetrieval'),
    timeoutSeconds: partSeconds(part),
    hasHosts: hosts.length > 0,
  };
}

/** A transparency log as the manifest declares it. */
export interface ManifestLog {
  /** What `[log] plugin` names it by. */
  readonly name: string;
  /** Exports `append` and `size`, and with `consistency` that as well. */
  readonly module: string;
  /** It proves how the log grew; default false. */
  readonly consistency: boolean;
}

/** Reads one; throws on nonsense. */
export function parseLog(item: unknown, pluginPackage: PluginPackage): ManifestLog {
  const part = parsePart(item, 'a log', ['consistency'], pluginPackage);
  return { name: part.name, module: part.module, consistency: partFlag(part, 'consistency') };
}

/**
 * Resources that a plugin receives in addition to its own files. All are declared, so a user who trusts the digest
 * has read them.
 */
export interface PluginNeeds {
  /** Entries as in `networkHosts`. */
  readonly hosts: readonly string[];
  /** Names of secrets. */
  readonly secrets: readonly string[];
  /** Files of the user's own, `~/…`. */
  readonly files: readonly string[];
}

export const needFields = ['hosts', 'secrets', 'files'] as const;
const most = { hosts: 32, secrets: 16, files: 16 } as const;

/** Reads them; throws on nonsense. */
export function parseNeeds(fields: Fields): PluginNeeds {
  const files = parseNames(fields, 'files', isOwnFile, 'a path that begins with `~/`, without `..`');
  const own = files.findIndex((path) => isOwnPlace(path.slice('~/'.length)));
  if (own >= 0)
    throw faultAt(
      toPointer(['files', own]),
      `${JSON.stringify(files[own])} lies in a directory of writ itself, where keys and vaults are: no plugin is handed it`,
    );
  return {
    hosts: parseNames(
      fields,
      'hosts',
      isHost,
      'a host name, perhaps with `*.` before it and a port after it',
    ),
    secrets: parseNames(fields, 'secrets', isSecretName, 'the name of an environment variable'),
    files,
  };
}

/** Returns each of them as text, for `writ plugin list` and `writ plugin trust`. */
export function needsInWords({ hosts, secrets, files }: PluginNeeds): readonly string[] {
  return [
    ...hosts.map((host) => `connects to ${host}`),
    ...secrets.map((name) => `is handed the secret ${name}`),
    ...files.map((path) => `reads ${path}`),
  ];
}

function parseNames(
  fields: Fields,
  field: (typeof needFields)[number],
  isName: (text: string) => boolean,
  expected: string,
): readonly string[] {
  const names: string[] = [];
  const read = (item: unknown): string => {
    const name = parseText({ [field]: item }, field, 253);
    if (!isName(name) || names.includes(name))
      throw new TypeError(`expected ${expected}, each once, found ${JSON.stringify(name)}`);
    names.push(name);
    return name;
  };
  return listAt(fields, field, read, most[field]);
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

/** One option of a plugin, as its manifest declares it. */
export interface ManifestOption {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean';
  /** The only ones there are; absent: any of the type. */
  readonly values?: readonly OptionValue[];
  /** Absent: if the option is not set, the plugin receives no value. */
  readonly default?: OptionValue;
  readonly says: string;
}

const maxText = 4096;

/** Reads one that a manifest declares; throws on nonsense. */
export function parseOption(item: unknown): ManifestOption {
  const fields = membersOf(item, 'an option', ['name', 'type', 'values', 'default', 'says']);
  const name = parseText(fields, 'name', 64);
  if (!kebabCase.test(name.replaceAll('_', '-')))
    throw new TypeError('expected the `name` of an option in lower case, with `-` or `_`');
  const type = parseWord(fields, 'type', ['string', 'number', 'boolean']);
  const option = { name, type, says: parseText(fields, 'says', 500) };
  const values =
    fields.values === undefined ? {} : { values: listAt(fields, 'values', (one) => toValue(option, one)) };
  const whole = { ...option, ...values };
  return fields.default === undefined ? whole : { ...whole, default: toValue(whole, fields.default) };
}

/**
 * Returns the options of a plugin, from its `[[plugins]]` entry or else the declared default. Throws for an
 * undeclared option and for a value that it does not allow.
 */
export function readOptions(declared: readonly ManifestOption[], given: Fields): Fields {
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

function toValue({ name, type, values }: Omit<ManifestOption, 'says'>, value: unknown): OptionValue {
  const isOfType = typeof value === type && (typeof value !== 'string' || value.length <= maxText);
  if (isOfType && (values === undefined || values.includes(value as OptionValue)))
    return value as OptionValue;
  const expected =
    values === undefined ? `a ${type}` : `one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;
  throw new TypeError(`option \`${name}\`: expected ${expected}`);
}

/** Names of plugins and of what they bring. */
export const kebabCase = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** What every part has in a manifest. */
interface ManifestPart {
  readonly name: string;
  readonly module: string;
  /** What messages call it. */
  readonly what: string;
  /** All its fields, none but known ones. */
  readonly fields: Fields;
}

/** Letters of such a name. */
export const maxName = 64;

const defaultSeconds = 60;

/** Reads a part's name and module. It is of a `kind`, with its article, and may have `more` fields than these. */
function parsePart(
  item: unknown,
  kind: string,
  more: readonly string[],
  pluginPackage: PluginPackage,
): ManifestPart {
  const fields = membersOf(item, kind, ['name', 'module', ...more]);
  const name = parseText(fields, 'name', maxName);
  if (!kebabCase.test(name))
    throw new TypeError(`expected the \`name\` of ${kind} in kebab-case, got ${quoted(name)}`);
  const what = `${kind.replace(/^an? /, '')} \`${name}\``;
  return { name, module: parseModule(fields, what, pluginPackage), what, fields };
}

/** Returns the timeout of a part for one answer; default one minute. */
function partSeconds({ fields, what }: ManifestPart): number {
  return parseSeconds(fields, what).timeoutSeconds ?? defaultSeconds;
}

/** A field of a part that is true or false; absent: false. */
function partFlag({ fields, what }: ManifestPart, field: string): boolean {
  const { [field]: flag = false } = fields;
  if (typeof flag === 'boolean') return flag;
  throw new TypeError(`${what}: expected \`${field}\` to be true or false`);
}

/** The module of a part: a file of the package. */
export function parseModule(fields: Fields, what: string, { files }: PluginPackage): string {
  const module = parseText(fields, 'module', 255).replace(/^\.\//, '');
  if (packagePathFault(module) !== undefined || !/\.(?:[cm]?js|m?ts)$/.test(module) || !files.has(module))
    throw new TypeError(`${what}: expected \`module\` to be a JavaScript or TypeScript file of the package`);
  return module;
}

/** A model backend as the manifest declares it. */
export interface ManifestProvider {
  /** What `--provider` names it by. */
  readonly name: string;
  readonly title: string;
  /** Exports `ask`. */
  readonly module: string;
  readonly base: string;
  readonly defaultModel: string;
  /** Names of its key, each among the plugin's secrets; none: it has no key. */
  readonly keys: readonly string[];
}

/** Reads one; throws on nonsense, and where its base or a key is not among what the plugin declares. */
export function parseProvider(
  item: unknown,
  pluginPackage: PluginPackage,
  needs: PluginNeeds,
): ManifestProvider {
  const more = ['title', 'base', 'defaultModel', 'keys'];
  const { name, module, what, fields } = parsePart(item, 'a provider', more, pluginPackage);
  const base = parseText(fields, 'base', 2048);
  const fault = serviceUrlFault(base);
  if (fault !== undefined) throw new TypeError(`${what}: \`base\`: ${fault}`);
  if (!opensHost(needs.hosts, base))
    throw new TypeError(`${what}: expected the host of \`base\` among \`hosts\``);
  const keys = listAt(fields, 'keys', (key) => parseText({ key }, 'key', 128), 8);
  const stray = keys.find((key) => !needs.secrets.includes(key));
  if (stray !== undefined) throw new TypeError(`${what}: expected its key \`${stray}\` among \`secrets\``);
  return {
    name,
    title: parseText({ title: fields.title ?? name }, 'title', 64),
    module,
    base: base.replace(/\/{1,8}$/, ''),
    defaultModel: parseText(fields, 'defaultModel', 200),
    keys,
  };
}

const maxTimeoutSeconds = 600;

/** `timeoutSeconds` of what a manifest declares, where it is there; `what` declares it; throws for one that is none. */
export function parseSeconds({ timeoutSeconds }: Fields, what: string): { timeoutSeconds?: number } {
  if (timeoutSeconds === undefined) return {};
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds > 0 && timeoutSeconds <= maxTimeoutSeconds))
    throw new TypeError(`${what}: expected \`timeoutSeconds\` within 0 and ${maxTimeoutSeconds}`);
  return { timeoutSeconds };
}

/** A check of the gate stages as the manifest declares it. */
export interface ManifestStageCheck {
  /** Its findings bear it as their rule. */
  readonly name: string;
  /** Exports `judge`. */
  readonly module: string;
  /** Stages that run it, for every spec; at least one. */
  readonly stages: readonly StageName[];
  /** Whether it receives the diff. */
  readonly readsDiff: boolean;
  /** For one answer. */
  readonly timeoutSeconds: number;
}

/** Reads one; throws on nonsense. */
export function parseStageCheck(item: unknown, pluginPackage: PluginPackage): ManifestStageCheck {
  const part = parsePart(item, 'a stage check', ['stages', 'readsDiff', 'timeoutSeconds'], pluginPackage);
  const { name, module, what, fields } = part;
  const stages = listAt(fields, 'stages', (stage) => wordOf(stage, stageNames), stageNames.length);
  if (stages.length === 0 || new Set(stages).size !== stages.length)
    throw new TypeError(
      `${what}: expected \`stages\` to name one or more of ${stageNames.join(', ')}, each once`,
    );
  return {
    name,
    module,
    stages,
    readsDiff: partFlag(part, 'readsDiff'),
    timeoutSeconds: partSeconds(part),
  };
}
