/* Reads the files of Rust's Cargo. */
import { entriesOf, isTable, listOf, type Table, tableOf, textOf } from './content.ts';
import { fromHex, LockBuilder, namedTables } from './lock-builder.ts';
import { cleanUrl, type LockedPackage } from './locked-package.ts';
import type { ReadingBuilder, SourceKind } from './reading.ts';
import { onByDefault, readSettings } from './reading.ts';

const fields: readonly (readonly [string, LockedPackage['scope']])[] = [
  ['dependencies', 'runtime'],
  ['build-dependencies', 'runtime'],
  ['build_dependencies', 'runtime'],
  ['dev-dependencies', 'development'],
  ['dev_dependencies', 'development'],
];

/** Cargo.toml: dependencies of the package, of its targets and of the workspace, `[patch]` and `[replace]`. */
export function readCargoToml(root: Table, reading: ReadingBuilder): void {
  const tables = (from: Table, prefix: string): void => {
    for (const [field, scope] of fields) declareTable(from[field], `${prefix}${field}`, scope, reading);
  };
  tables(root, '');
  for (const [target, value] of entriesOf(root.target)) tables(tableOf(value), `target.${target}.`);
  declareTable(tableOf(root.workspace).dependencies, 'workspace.dependencies', 'unknown', reading);
  for (const [registry, table] of entriesOf(root.patch))
    declareTable(table, `patch.${registry}`, 'unknown', reading, true);
  for (const [key, value] of entriesOf(root.replace))
    declareTable({ [key.split(/[:#@]/)[0] ?? key]: value }, 'replace', 'unknown', reading, true);
  const name = textOf(tableOf(root.package).name);
  if (name !== '') reading.local.add(name);
}

/** `.cargo/config.toml` (and `config`): registries, source replacement, patches, path overrides, proxies. */
export function readCargoConfig(root: Table, reading: ReadingBuilder): void {
  readSettings(reading, root, {
    'registry.default': 'place',
    'registry.index': 'place',
    'registries.*.index': 'place',
  });
  for (const [name, value] of entriesOf(root.source))
    for (const key of 'registry replace-with directory local-registry git branch tag rev'.split(' '))
      reading.source(`source.${name}.${key}`, tableOf(value)[key]);
  for (const [registry, table] of entriesOf(root.patch))
    declareTable(table, `patch.${registry}`, 'unknown', reading, true);
  readSettings(reading, root, {
    'paths.*': 'place',
    'include.*': 'place',
    'http.proxy': 'place',
    'http.cainfo': 'place',
    'http.check-revoke': onByDefault,
  });
}

/** `vendor/<crate>/Cargo.toml`: metadata of a vendored crate. */
export function readVendoredCrate(root: Table, reading: ReadingBuilder): void {
  const crate = tableOf(root.package);
  const name = textOf(crate.name);
  if (name === '') return void reading.problem('it says no name');
  const version = textOf(crate.version);
  // Old crates write a choice with a slash.
  reading.license(name, version, textOf(crate.license).replace(/\s*\/\s*/g, ' OR ') || undefined);
  reading.declare({
    key: name,
    name,
    requirement: version,
    scope: 'unknown',
    field: 'vendored',
    needNotBeLocked: true,
  });
}

function declareTable(
  value: unknown,
  field: string,
  scope: LockedPackage['scope'],
  reading: ReadingBuilder,
  isOverride = false,
): void {
  for (const [key, spec, line] of reading.dependenciesIn(field, value)) {
    const table = tableOf(spec);
    // Its real name and source are in the workspace's own table.
    if (table.workspace === true) continue;
    const requirement = typeof spec === 'string' ? spec : textOf(table.version);
    const name = textOf(table.package) || key;
    reading.source(`registry of ${name}`, table['registry-index'] ?? table.registry, { line });
    reading.declare({
      key,
      name,
      requirement,
      scope: table.optional === true ? 'optional' : scope,
      field,
      ...sourceOf(table, reading),
      version: /^=\s*(\d[\w.+-]*)$/.exec(requirement.trim())?.[1],
      line,
      isOverride,
      needNotBeLocked: isOverride || field === 'workspace.dependencies',
    });
  }
}

function sourceOf(
  table: Table,
  reading: ReadingBuilder,
): { readonly source: SourceKind; readonly origin: string } {
  if (typeof table.git === 'string') return { source: 'git', origin: cleanUrl(table.git) };
  if (typeof table.path === 'string') return { source: 'path', origin: reading.placeOf(table.path) };
  return { source: 'registry', origin: textOf(table['registry-index']) || textOf(table.registry) };
}

/**
 * Reads Cargo.lock, versions 1 to 4. A package without a source belongs to the repository, and its dependencies are
 * direct.
 */
export function readCargoLock(root: Table, reading: ReadingBuilder): void {
  if (root.package === undefined && root.version === undefined)
    return void reading.problem('it holds neither packages nor a version');
  if (root.version !== undefined && ![1, 2, 3, 4].includes(Number(root.version)))
    return void reading.problem('its `version` is none of 1 to 4');
  reading.knowsDirect = true;
  const metadata = tableOf(root.metadata);
  const builder = new LockBuilder(reading);
  const byName = new Map<string, string>();
  const keyed = new Map<string, string>();
  const direct = new Set<string>();
  const rows: [key: string, entry: Table, line: number | undefined][] = [];
  const listed = [...listOf(root.package), ...(isTable(root.root) ? [root.root] : [])];
  for (const [entry, name, line] of namedTables(reading, listed)) {
    const [version, source] = [textOf(entry.version), textOf(entry.source)];
    if (source === '') {
      reading.local.add(name);
      for (const asked of listOf(entry.dependencies)) direct.add(textOf(asked));
      continue;
    }
    const key = `${name} ${version} (${source})`;
    keyed.set(`${name} ${version}`, key);
    byName.set(name, key);
    rows.push([key, entry, line]);
  }
  for (const [key, entry, line] of rows) {
    const [name, version, source] = [textOf(entry.name), textOf(entry.version), textOf(entry.source)];
    const isGit = source.startsWith('git+');
    const checksum = textOf(entry.checksum) || textOf(metadata[`checksum ${key}`]);
    builder.add(key, {
      name,
      version,
      source: isGit ? 'git' : 'registry',
      origin: isGit || !cratesIo.test(source) ? cleanUrl(source) : undefined,
      revision: isGit ? /#([0-9a-f]{7,64})$/.exec(source)?.[1] : undefined,
      integrity: fromHex(checksum, 'sha256'),
      direct: [key, `${name} ${version}`, name].some((asked) => direct.has(asked)),
      line,
      asks: listOf(entry.dependencies).map(textOf),
    });
  }
  builder.finish((asked) => (builder.entries.has(asked) ? asked : (keyed.get(asked) ?? byName.get(asked))));
}

/** The default registry under either of its names. */
const cratesIo =
  /^(?:registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|(?:sparse|registry)\+https:\/\/index\.crates\.io\/?)$/;
