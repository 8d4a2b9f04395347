/* Reads lockfiles of pnpm. */
import { entriesOf, isTable, keyLines, type Table, tableOf, textOf, yamlContent } from '../content.ts';
import { fromSri, LockBuilder, type LockEntry } from '../lock-builder.ts';
import { cleanUrl, hostOf, type LockedPackage } from '../locked-package.ts';
import { directoryOf, type ReadingBuilder, resolvePath } from '../reading.ts';
import { otherPackage } from './npm-source.ts';
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
    if (isOfTools) readTools(tableOf(importer), direct);
    else readImporter(directory, tableOf(importer), reading, direct);
  }
  const own = isOfTools ? 'tools of pnpm: ' : '';
  const lines = keyLines(text);
  const asksBy = new Map<string, string[]>();
  for (const [key, snapshot] of entriesOf(lock.snapshots))
    asksBy.set(bareKey(key), [...(asksBy.get(bareKey(key)) ?? []), ...asksOf(tableOf(snapshot))]);
  for (const [written, entry] of entriesOf(lock.packages)) {
    if (!isTable(entry)) {
      reading.problem('an entry of `packages` is no mapping');
      continue;
    }
    const isOld = major < 9 && !written.startsWith('/');
    const key = isOld ? `${textOf(entry.name)}@${bareKey(written)}` : bareKey(written);
    const asks = [...(asksBy.get(key) ?? []), ...asksOf(entry)].map((asked) => own + asked);
    builder.add(own + key, {
      ...describe(key, entry, reading),
      direct: direct.has(key),
      scope:
        entry.dev === 'true'
          ? 'development'
          : entry.optional === 'true'
            ? 'optional'
            : (direct.get(key) ?? (entry.dev === 'false' ? 'runtime' : 'unknown')),
      line: (lines.get(written) ?? Number.NaN) + before || undefined,
      asks,
    });
  }
  return true;
}

function readTools(importer: Table, direct: Map<string, LockedPackage['scope']>): void {
  for (const field of toolFields)
    for (const [name, value] of entriesOf(importer[field]))
      direct.set(keyOf(name, textOf(isTable(value) ? value.version : value)), 'development');
}

function readImporter(
  directory: string,
  importer: Table,
  reading: ReadingBuilder,
  direct: Map<string, LockedPackage['scope']>,
): void {
  const mirror = new Map<string, string>();
  for (const [field, scope] of npmFields) {
    for (const [name, value] of entriesOf(importer[field])) {
      const version = textOf(isTable(value) ? value.version : value);
      const specifier = textOf(isTable(value) ? value.specifier : tableOf(importer.specifiers)[name]);
      if (specifier !== '') mirror.set(name, specifier);
      const key = keyOf(name, version);
      if (/^(?:link|workspace):/.test(version)) reading.local.add(name);
      else if (!direct.has(key) || scope === 'runtime') direct.set(key, scope);
    }
  }
  const own = directoryOf(reading.path);
  const place = resolvePath(own, directory);
  if (place !== undefined)
    reading.mirrored?.set(place === own ? '' : own === '' ? place : place.slice(own.length + 1), mirror);
}

/** `name@version` of `name@version(react@18)`, of `/name@version(react@18)` (6) and of `/name/version_react@16` (5). */
function bareKey(key: string): string {
  return key
    .replace(/\(.*$/s, '')
    .replace(/^\/(.+)\/(\d[^/_@]*)(?:_.*)?$/s, '$1@$2')
    .replace(/^(\d[^/_@]*)_.*$/s, '$1')
    .replace(/^\//, '');
}

/** The key of a dependency `name: version`. A version with a name is an alias. */
function keyOf(name: string, version: string): string {
  const bare = bareKey(version);
  return /^@?[^@:]+@/.test(bare) ? bare : `${name}@${bare}`;
}

function asksOf(entry: Table): string[] {
  return ['dependencies', 'optionalDependencies'].flatMap((field) =>
    entriesOf(entry[field]).map(([name, version]) => keyOf(name, textOf(version))),
  );
}

function describe(key: string, entry: Table, reading: ReadingBuilder): Omit<LockEntry, 'asks'> {
  const at = key.indexOf('@', 1);
  const name = textOf(entry.name) || key.slice(0, at);
  const version = key.slice(at + 1);
  const { repo, tarball: fetched, directory: inside, commit, integrity } = tableOf(entry.resolution);
  const [repository, tarball, directory] = [textOf(repo), textOf(fetched), textOf(inside)];
  const place = repository || tarball || version;
  const isGit = /^https:\/\/codeload\.github\.com\/|^(?:git[+:@]|ssh:)/i.test(place) || repository !== '';
  const isRegistry =
    !isGit && directory === '' && !/^(?:https?:|file:|link:|git|[\w.-]+\.[a-z]+\/)/i.test(version);
  const pinned = textOf(entry.version) || (isRegistry ? version : '');
  const hashed = { name, version: pinned, integrity: fromSri(textOf(integrity)) };
  if (isRegistry) {
    const resolvedAs = tarball === '' ? undefined : otherPackage(tarball, name);
    return { ...hashed, source: 'registry', origin: hostOf(tarball), resolvedAs };
  }
  if (directory !== '' || /^(?:file|link):/.test(version))
    return { ...hashed, source: 'path', origin: reading.placeOf(directory || version.replace(/^\w+:/, '')) };
  const revision = isGit ? textOf(commit) || /([0-9a-f]{40})$/.exec(tarball || version)?.[1] : undefined;
  return { ...hashed, source: isGit ? 'git' : 'url', origin: cleanUrl(place), revision };
}
