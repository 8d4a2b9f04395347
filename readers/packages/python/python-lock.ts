/* Reads Python lockfiles. */
import { entriesOf, isTable, listOf, type Table, tableOf, textOf } from '../content.ts';
import { fromHex, LockBuilder, type LockEntry, namedTables } from '../lock-builder.ts';
import { cleanUrl, hostOf, type LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';
import { indexSource } from './python-config.ts';
import { parseRequirement, pythonName } from './requirements.ts';

type Scope = LockedPackage['scope'];
type Place = readonly [source: SourceKind | undefined, place: string];

interface Stated {
  readonly place: Place;
  readonly revision?: string | undefined;
  readonly scope?: Scope | undefined;
  /** Tables with a `hash`, and `file` or `url`. */
  readonly files: readonly unknown[];
  /** Names as they are written. */
  readonly asks: readonly string[];
}

/** poetry.lock (1.x and 2.x). */
export function readPoetryLock(root: Table, reading: ReadingBuilder): void {
  const oldFiles = tableOf(tableOf(root.metadata).files);
  readTables(root, reading, (entry) => {
    const source = tableOf(entry.source);
    const type = textOf(source.type) || 'legacy';
    const groups = listOf(entry.groups);
    const isMain = groups.includes('main') || entry.category === 'main';
    const isDevelopment = groups.length > 0 ? !isMain : entry.category === 'dev';
    const scope = entry.optional === true ? 'optional' : isMain ? 'runtime' : 'unknown';
    return {
      place: [Object.hasOwn(kinds, type) ? kinds[type] : undefined, textOf(source.url)],
      revision: textOf(source.resolved_reference),
      scope: isDevelopment ? 'development' : scope,
      files: Array.isArray(entry.files) ? entry.files : listOf(oldFiles[textOf(entry.name)]),
      asks: Object.keys(tableOf(entry.dependencies)),
    };
  });
}

/** Reads uv.lock. Members of the workspace are the project itself; their dependencies are direct. */
export function readUvLock(root: Table, reading: ReadingBuilder): void {
  reading.knowsDirect = true;
  const direct = new Map<string, Scope>();
  const namesIn = (list: unknown): readonly string[] =>
    listOf(list).map((item) => textOf(tableOf(item).name));
  const mark = (names: readonly string[], scope: Scope): void => {
    for (const name of names.map(pythonName))
      if (!direct.has(name) || scope === 'runtime') direct.set(name, scope);
  };
  const describe = (entry: Table): Stated | undefined => {
    const source = tableOf(entry.source);
    const optional = entriesOf(entry['optional-dependencies']).flatMap(([, list]) => namesIn(list));
    if ('editable' in source || 'virtual' in source) {
      mark(namesIn(entry.dependencies), 'runtime');
      mark(optional, 'optional');
      for (const [, list] of entriesOf(entry['dev-dependencies'])) mark(namesIn(list), 'development');
      return undefined;
    }
    const place = placeIn(source);
    return {
      place,
      revision: /#([0-9a-f]{7,64})$/.exec(place[1])?.[1],
      files: [...(isTable(entry.sdist) ? [entry.sdist] : []), ...listOf(entry.wheels)],
      asks: [...namesIn(entry.dependencies), ...optional],
    };
  };
  readTables(root, reading, describe, direct);
}

export function readPdmLock(root: Table, reading: ReadingBuilder): void {
  readTables(root, reading, (entry) => {
    const groups = listOf(entry.groups);
    const { git, url, path } = entry;
    return {
      place: placeIn({ git, url, path, registry: '' }),
      revision: textOf(entry.revision),
      scope: groups.length === 0 ? 'unknown' : groups.includes('default') ? 'runtime' : 'development',
      files: listOf(entry.files),
      asks: listOf(entry.dependencies).flatMap((item) => parseRequirement(textOf(item))?.name ?? []),
    };
  });
}

/** Kinds of sources by the words of the lockfiles. */
const kinds: Readonly<Record<string, SourceKind>> = {
  git: 'git',
  url: 'url',
  path: 'path',
  directory: 'path',
  file: 'path',
  registry: 'registry',
  legacy: 'registry',
};

function placeIn(source: Table): Place {
  const key = Object.keys(kinds).find((one) => typeof source[one] === 'string');
  return key === undefined ? [undefined, ''] : [kinds[key], textOf(source[key])];
}

function readTables(
  root: Table,
  reading: ReadingBuilder,
  describe: (entry: Table) => Stated | undefined,
  direct?: ReadonlyMap<string, Scope>,
): void {
  if (root.package !== undefined && !Array.isArray(root.package))
    return void reading.problem('`package` is no list of tables');
  if (['package', 'metadata', 'version', 'lock-version'].every((key) => root[key] === undefined))
    return void reading.problem('it has neither packages nor metadata');
  const builder = new LockBuilder(reading);
  const byName = new Map<string, string>();
  const rows: [Table, Stated, number | undefined][] = [];
  for (const [entry, written, line] of namedTables(reading, listOf(root.package))) {
    const stated = describe(entry);
    if (stated === undefined) reading.local.add(pythonName(written));
    else rows.push([entry, stated, line]);
  }
  for (const [entry, { place, revision, scope, files, asks }, line] of rows) {
    const name = pythonName(textOf(entry.name));
    const added: LockEntry = {
      name,
      version: textOf(entry.version),
      ...sourceAt(place, revision),
      scope: direct?.get(name) ?? scope ?? 'unknown',
      integrity: digestOf(files.map(tableOf)),
      isHashed: files.some((file) => textOf(tableOf(file).hash) !== ''),
      direct: direct?.has(name) === true,
      line,
      asks: asks.map(pythonName),
    };
    const key = `${name}@${added.version}@${added.origin}`;
    builder.add(key, added);
    if (!byName.has(name)) byName.set(name, key);
  }
  builder.finish((asked) => byName.get(asked));
}

function sourceAt(
  [source, place]: Place,
  revision: string | undefined,
): Pick<LockEntry, 'source' | 'origin' | 'revision'> {
  if (source === 'path') return { source, origin: place };
  return {
    source,
    origin: source === 'registry' ? hostOf(place) : cleanUrl(place),
    revision: source === 'git' ? revision : undefined,
  };
}

/** The hash of the source archive; of a single file that file's. */
function digestOf(files: readonly Table[]): LockedPackage['integrity'] | undefined {
  const isArchive = (file: Table): boolean =>
    /\.(?:tar\.gz|zip|tar\.bz2)$/.test(textOf(file.file) || textOf(file.url));
  const one = files.find(isArchive) ?? (files.length === 1 ? files[0] : undefined);
  return one && fromHex(textOf(one.hash));
}

export function readPipfileLock(root: Table, reading: ReadingBuilder): void {
  if (!isTable(root._meta) && !isTable(root.default))
    return void reading.problem('it has neither `_meta` nor `default`');
  for (const table of listOf(tableOf(root._meta).sources).map(tableOf)) indexSource(reading, 'source', table);
  const builder = new LockBuilder(reading);
  const lines = reading.lines();
  for (const [section, table] of entriesOf(root)) {
    if (section === '_meta') continue;
    for (const [key, value] of entriesOf(table)) {
      const line = lines.next(`${JSON.stringify(key)}:`);
      const { git, path, file, hashes: stated, version: pinned, ref } = tableOf(value);
      const place = placeIn({ git, path, url: file, registry: '' });
      const hashes = listOf(stated);
      const version = textOf(pinned).replace(/^===?/, '');
      builder.add(`${pythonName(key)}@${version}@${place[1]}`, {
        name: pythonName(key),
        version,
        ...sourceAt(place, textOf(ref)),
        integrity: hashes.length === 1 ? fromHex(textOf(hashes[0])) : undefined,
        isHashed: hashes.length > 0,
        scope: section === 'default' ? 'runtime' : 'development',
        line,
        asks: [],
      });
    }
  }
  builder.finish();
}
