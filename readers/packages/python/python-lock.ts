/* Reads Python lockfiles. */
import { entriesOf, isTable, listOf, type Table, tableOf, textOf } from '../content.ts';
import { fromHex, LockBuilder, type LockEntry } from '../lock-builder.ts';
import { cleanUrl, hostOf, type LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';
import { indexSource } from './python-config.ts';
import { parseRequirement, pythonName } from './requirements.ts';

/** poetry.lock (1.x and 2.x). */
export function readPoetryLock(root: Table, reading: ReadingBuilder): void {
  readTables(root, reading, (entry) => {
    const source = tableOf(entry.source);
    const type = textOf(source.type);
    const kind: SourceKind | undefined =
      type === '' || type === 'legacy'
        ? 'registry'
        : ({ git: 'git', url: 'url', directory: 'path', file: 'path' } as const)[type];
    const url = textOf(source.url);
    const groups = listOf(entry.groups);
    const isMain = groups.includes('main') || entry.category === 'main';
    const isDevelopment = groups.length > 0 ? !groups.includes('main') : entry.category === 'dev';
    const files = Array.isArray(entry.files)
      ? entry.files
      : listOf(tableOf(tableOf(root.metadata).files)[textOf(entry.name)]);
    return {
      source: kind,
      origin: type === 'legacy' ? hostOf(url) : kind === 'path' ? url : cleanUrl(url),
      revision: textOf(source.resolved_reference),
      scope: isDevelopment
        ? 'development'
        : entry.optional === true
          ? 'optional'
          : isMain
            ? 'runtime'
            : 'unknown',
      integrity: sdistHash(files, 'file'),
      isHashed: hasHash(files),
      asks: Object.keys(tableOf(entry.dependencies)).map(pythonName),
    };
  });
}

/** Reads uv.lock. Members of the workspace are the project itself; their dependencies are direct. */
export function readUvLock(root: Table, reading: ReadingBuilder): void {
  reading.knowsDirect = true;
  const direct = new Map<string, LockedPackage['scope']>();
  const mark = (list: unknown, scope: LockedPackage['scope']): void => {
    for (const item of listOf(list)) {
      const name = pythonName(textOf(tableOf(item).name));
      if (!direct.has(name) || scope === 'runtime') direct.set(name, scope);
    }
  };
  readTables(
    root,
    reading,
    (entry) => {
      const source = tableOf(entry.source);
      if ('editable' in source || 'virtual' in source) {
        mark(entry.dependencies, 'runtime');
        for (const [, list] of entriesOf(entry['optional-dependencies'])) mark(list, 'optional');
        for (const [, list] of entriesOf(entry['dev-dependencies'])) mark(list, 'development');
        return undefined;
      }
      const [kind, place] = uvSource(source);
      const sdist = tableOf(entry.sdist);
      const wheels = listOf(entry.wheels);
      const asked = [
        ...listOf(entry.dependencies),
        ...entriesOf(entry['optional-dependencies']).flatMap(([, list]) => listOf(list)),
      ];
      return {
        source: kind,
        origin: kind === 'registry' ? hostOf(place) : kind === 'path' ? place : cleanUrl(place),
        revision: kind === 'git' ? /#([0-9a-f]{7,64})$/.exec(place)?.[1] : undefined,
        integrity:
          fromHex(textOf(sdist.hash)) ??
          (wheels.length === 1 ? fromHex(textOf(tableOf(wheels[0]).hash)) : undefined),
        isHashed: hasHash([sdist, ...wheels]),
        asks: asked.map((item) => pythonName(textOf(tableOf(item).name))),
      };
    },
    direct,
  );
}

function uvSource(source: Table): readonly [SourceKind | undefined, string] {
  for (const [key, kind] of [
    ['registry', 'registry'],
    ['git', 'git'],
    ['url', 'url'],
    ['path', 'path'],
    ['directory', 'path'],
  ] as const)
    if (typeof source[key] === 'string') return [kind, textOf(source[key])];
  return [undefined, ''];
}

/** pdm.lock. */
export function readPdmLock(root: Table, reading: ReadingBuilder): void {
  readTables(root, reading, (entry) => {
    const kind: SourceKind = entry.git ? 'git' : entry.url ? 'url' : entry.path ? 'path' : 'registry';
    const place = textOf(entry.git ?? entry.url ?? entry.path);
    const groups = listOf(entry.groups);
    return {
      source: kind,
      origin: kind === 'path' ? place : cleanUrl(place),
      revision: textOf(entry.revision),
      scope: groups.length === 0 ? 'unknown' : groups.includes('default') ? 'runtime' : 'development',
      integrity: sdistHash(listOf(entry.files), 'file') ?? sdistHash(listOf(entry.files), 'url'),
      isHashed: hasHash(listOf(entry.files)),
      asks: listOf(entry.dependencies).flatMap((item) => parseRequirement(textOf(item))?.name ?? []),
    };
  });
}

type Described = Omit<LockEntry, 'name' | 'version' | 'line' | 'direct'>;

function readTables(
  root: Table,
  reading: ReadingBuilder,
  describe: (entry: Table) => Described | undefined,
  direct?: ReadonlyMap<string, LockedPackage['scope']>,
): void {
  if (root.package !== undefined && !Array.isArray(root.package))
    return void reading.problem('`package` is no list of tables');
  if (['package', 'metadata', 'version', 'lock-version'].every((key) => root[key] === undefined))
    return void reading.problem('it has neither packages nor metadata');
  const builder = new LockBuilder(reading);
  const byName = new Map<string, string>();
  const lines = reading.lines();
  const rows: [string, LockEntry][] = [];
  for (const entry of listOf(root.package)) {
    const written = isTable(entry) ? textOf(entry.name) : '';
    if (!isTable(entry) || written === '') {
      reading.problem('a package has no name');
      continue;
    }
    const line = lines.next(`name = ${JSON.stringify(written)}`);
    const described = describe(entry);
    const name = pythonName(written);
    if (described === undefined) reading.local.add(name);
    else {
      const version = textOf(entry.version);
      rows.push([`${name}@${version}@${described.origin ?? ''}`, { ...described, name, version, line }]);
    }
  }
  for (const [key, entry] of rows) {
    const scope = direct?.get(entry.name);
    builder.add(key, { ...entry, direct: scope !== undefined, ...(scope ? { scope } : {}) });
    if (!byName.has(entry.name)) byName.set(entry.name, key);
  }
  builder.finish((asked) => byName.get(asked));
}

/** The source archive's hash; of a single file that file's. */
function sdistHash(files: readonly unknown[], nameField: string): LockedPackage['integrity'] | undefined {
  const tables = files.map(tableOf);
  const sdist = tables.find((file) => /\.(?:tar\.gz|zip|tar\.bz2)$/.test(textOf(file[nameField])));
  const one = sdist ?? (tables.length === 1 ? tables[0] : undefined);
  return one && fromHex(textOf(one.hash));
}

function hasHash(files: readonly unknown[]): boolean {
  return files.some((file) => textOf(tableOf(file).hash) !== '');
}

/** Pipfile.lock. */
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
      const entry = tableOf(value);
      const place = textOf(entry.git ?? entry.file ?? entry.path ?? '');
      const kind: SourceKind = entry.git ? 'git' : entry.path ? 'path' : entry.file ? 'url' : 'registry';
      const hashes = listOf(entry.hashes);
      const version = textOf(entry.version).replace(/^===?/, '');
      builder.add(`${pythonName(key)}@${version}@${place}`, {
        name: pythonName(key),
        version,
        source: kind,
        origin: kind === 'path' ? place : cleanUrl(place),
        revision: kind === 'git' ? textOf(entry.ref) : undefined,
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
