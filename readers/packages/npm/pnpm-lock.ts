/* Reads lockfiles of pnpm. */
import { entriesOf, isTable, keyLines, type Table, tableOf, textOf, yamlContent } from '../content.ts';
import { fromSri, LockBuilder } from '../lock-builder.ts';
import { cleanUrl, hostOf, type LockedPackage } from '../locked-package.ts';
import { directoryOf, type ReadingBuilder, resolvePath } from '../reading.ts';
import { npmSource, otherPackage } from './npm-source.ts';
import { npmFields } from './package-json.ts';

/** Fields of the document before the project's, in a repository that pins pnpm (pnpm 11 and later). */
const toolFields = ['configDependencies', 'packageManagerDependencies'] as const;

/**
 * Reads pnpm-lock.yaml, versions 5 to 9. The last document is the project's; one for pnpm itself and its
 * configuration may precede it. Packages of both are read. Those of the first have separate keys, so that they do not
 * hide the project's packages.
 */
export function readPnpmLock(text: string, reading: ReadingBuilder): void {
  const documents = documentsOf(text);
  if (documents.length > 2) return void reading.problem('it holds several documents');
  const builder = new LockBuilder(reading);
  for (const [index, document] of documents.entries())
    if (!readDocument(builder, document, reading, index < documents.length - 1)) return;
  builder.finish();
}

interface LockDocument {
  readonly text: string;
  /** Lines before it. */
  readonly before: number;
}

/** Splits at each `---` line, wherever it is (YAML 1.2.2, 9.1.2); omits an empty first document. */
function documentsOf(text: string): readonly LockDocument[] {
  const documents: LockDocument[] = [];
  let before = 0;
  for (const part of text.split(/^---[ \t]*\r?$/m)) {
    if (documents.length > 0 || before > 0 || /^\s*[^#\s]/m.test(part))
      documents.push({ text: part, before });
    before += part.split('\n').length - 1;
  }
  return documents.length === 0 ? [{ text, before: 0 }] : documents;
}

/** `false` where it could not be read. */
function readDocument(
  builder: LockBuilder,
  { text, before }: LockDocument,
  reading: ReadingBuilder,
  isOfTools: boolean,
): boolean {
  const content = yamlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return false;
  }
  const lock = content.value;
  const major = Number.parseInt(textOf(lock.lockfileVersion), 10);
  if (!(major >= 5 && major <= 9)) {
    reading.problem('its `lockfileVersion` is none of 5 to 9');
    return false;
  }
  reading.knowsDirect = true;
  const direct = new Map<string, LockedPackage['scope']>();
  const importers = isTable(lock.importers) ? Object.entries(lock.importers) : [['.', lock] as const];
  if (!isOfTools) reading.mirrored = new Map();
  for (const [directory, importer] of importers) {
    if (isOfTools) readTools(tableOf(importer), major, direct);
    else readImporter(directory, tableOf(importer), major, reading, direct);
  }
  const own = isOfTools ? 'tools of pnpm: ' : '';
  const lines = keyLines(text);
  const asksBy = new Map<string, string[]>();
  for (const [key, snapshot] of entriesOf(lock.snapshots)) {
    const bare = withoutPeers(key, major);
    asksBy.set(bare, [...(asksBy.get(bare) ?? []), ...asksOf(tableOf(snapshot), major)]);
  }
  for (const [key, value] of entriesOf(lock.packages)) {
    if (!isTable(value)) {
      reading.problem('an entry of `packages` is no mapping');
      continue;
    }
    addPackage(builder, reading, key, value, major, {
      direct,
      own,
      asks: asksBy.get(withoutPeers(key, major)) ?? [],
      line: (lines.get(key) ?? Number.NaN) + before || undefined,
    });
  }
  return true;
}

function readTools(importer: Table, major: number, direct: Map<string, LockedPackage['scope']>): void {
  for (const field of toolFields)
    for (const [name, value] of entriesOf(importer[field]))
      direct.set(keyOf(name, textOf(isTable(value) ? value.version : value), major), 'development');
}

function readImporter(
  directory: string,
  importer: Table,
  major: number,
  reading: ReadingBuilder,
  direct: Map<string, LockedPackage['scope']>,
): void {
  const mirror = new Map<string, string>();
  const specifiers = tableOf(importer.specifiers);
  for (const [field, scope] of npmFields) {
    for (const [name, value] of entriesOf(importer[field])) {
      const version = textOf(isTable(value) ? value.version : value);
      const specifier = textOf(isTable(value) ? value.specifier : specifiers[name]);
      if (specifier !== '') mirror.set(name, specifier);
      if (/^(?:link|workspace):/.test(version)) {
        reading.local.add(name);
        continue;
      }
      const key = keyOf(name, version, major);
      const before = direct.get(key);
      if (before === undefined || scope === 'runtime') direct.set(key, scope);
    }
  }
  const place = resolvePath(directoryOf(reading.path), directory);
  const own = directoryOf(reading.path);
  if (place !== undefined)
    reading.mirrored?.set(place === own ? '' : own === '' ? place : place.slice(own.length + 1), mirror);
}

/** Returns the key under `packages` for a dependency `name: version`, without peers. */
function keyOf(name: string, version: string, major: number): string {
  const bare = withoutPeers(version, major);
  if (bare.startsWith('/') || /^(?:file|https?|git\S*):/.test(bare))
    return major >= 9 && !bare.startsWith('/') ? `${name}@${bare}` : bare;
  // A real name with its version: an alias, or a git host's path.
  if (/^@?[^@]+@/.test(bare) && major >= 9) return bare;
  if (/^[\w.-]+\.[a-z]+\//i.test(bare)) return bare;
  if (major >= 9) return `${name}@${bare}`;
  return major >= 6 ? `/${name}@${bare}` : `/${name}/${bare}`;
}

/** `(react@18)` of versions 6 to 9, `_react@16` of version 5. */
function withoutPeers(key: string, major: number): string {
  const at = key.indexOf('(');
  if (at !== -1) return key.slice(0, at);
  if (major > 5) return key;
  const slash = key.lastIndexOf('/');
  const under = key.indexOf('_', slash + 1);
  return under === -1 ? key : key.slice(0, under);
}

function asksOf(entry: Table, major: number): string[] {
  return ['dependencies', 'optionalDependencies'].flatMap((field) =>
    entriesOf(entry[field]).map(([name, version]) => keyOf(name, textOf(version), major)),
  );
}

function addPackage(
  builder: LockBuilder,
  reading: ReadingBuilder,
  key: string,
  entry: Table,
  major: number,
  more: {
    readonly direct: ReadonlyMap<string, LockedPackage['scope']>;
    /** Prefix of its keys. */
    readonly own: string;
    readonly asks: readonly string[];
    readonly line: number | undefined;
  },
): void {
  const bare = withoutPeers(key, major);
  const resolution = tableOf(entry.resolution);
  const named = nameAndVersion(bare, major);
  const name = textOf(entry.name) || named.name;
  const scope = entry.dev === 'true' ? 'development' : entry.optional === 'true' ? 'optional' : undefined;
  const repository = textOf(resolution.repo);
  const tarball = textOf(resolution.tarball);
  const directory = textOf(resolution.directory);
  const from = npmSource(name, repository || directory || named.version);
  const isHosted = /^(?:https?:|git|[\w.-]+\.[a-z]+\/)/i.test(named.version);
  const isRegistry = repository === '' && directory === '' && !isHosted && from.source === 'registry';
  const isGit = repository !== '' || /^https:\/\/codeload\.github\.com\//.test(tarball || named.version);
  const source = isRegistry
    ? 'registry'
    : isGit || from.source === 'git'
      ? 'git'
      : directory !== '' || from.source === 'path'
        ? 'path'
        : 'url';
  builder.add(more.own + bare, {
    name,
    version: textOf(entry.version) || (isRegistry ? named.version : ''),
    source,
    origin:
      source === 'registry'
        ? hostOf(tarball)
        : source === 'path'
          ? reading.placeOf(directory || (from.origin ?? ''))
          : cleanUrl(repository || tarball || named.version),
    revision:
      source === 'git'
        ? textOf(resolution.commit) || /([0-9a-f]{40})$/.exec(tarball || bare)?.[1]
        : undefined,
    integrity: fromSri(textOf(resolution.integrity)),
    resolvedAs: isRegistry && tarball !== '' ? otherPackage(tarball, name) : undefined,
    direct: more.direct.has(bare),
    scope: scope ?? more.direct.get(bare) ?? (entry.dev === 'false' ? 'runtime' : 'unknown'),
    line: more.line,
    asks: [...more.asks, ...asksOf(entry, major)].map((asked) => more.own + asked),
  });
}

function nameAndVersion(key: string, major: number): { readonly name: string; readonly version: string } {
  const bare = key.startsWith('/') ? key.slice(1) : key;
  if (major < 6) {
    const slash = bare.lastIndexOf('/');
    return /^[\w.-]+\.[a-z]+\//i.test(bare) && !key.startsWith('/')
      ? { name: bare.split('/').slice(1, -1).at(-1) ?? bare, version: bare }
      : { name: bare.slice(0, slash), version: bare.slice(slash + 1) };
  }
  const at = bare.indexOf('@', 1);
  return at === -1 ? { name: bare, version: bare } : { name: bare.slice(0, at), version: bare.slice(at + 1) };
}
