import { entriesOf, isTable, listOf, type Table, tableOf, textOf, tomlContent } from '../content.ts';
import { fromHex } from '../integrity.ts';
import { LineFinder } from '../line-finder.ts';
import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import { cleanUrl } from '../origin.ts';
import { placeOf } from '../place-of.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';
import { statesLicense } from '../states-license.ts';

const fields: readonly (readonly [string, LockedPackage['scope']])[] = [
  ['dependencies', 'runtime'],
  ['build-dependencies', 'runtime'],
  ['build_dependencies', 'runtime'],
  ['dev-dependencies', 'development'],
  ['dev_dependencies', 'development'],
];

/** Cargo.toml: dependencies of the package, of its targets and of the workspace, `[patch]` and `[replace]`. */
export function readCargoToml(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const root = content.value;
  const tables = (from: Table, prefix: string): void => {
    for (const [field, scope] of fields) declareTable(from[field], `${prefix}${field}`, scope, text, reading);
  };
  tables(root, '');
  for (const [target, value] of entriesOf(root.target)) tables(tableOf(value), `target.${target}.`);
  const workspace = tableOf(root.workspace);
  declareTable(workspace.dependencies, 'workspace.dependencies', 'unknown', text, reading);
  for (const [registry, table] of entriesOf(root.patch))
    declareTable(table, `patch.${registry}`, 'unknown', text, reading, true);
  for (const [key, value] of entriesOf(root.replace))
    declareTable({ [key.split(/[:#@]/)[0] ?? key]: value }, 'replace', 'unknown', text, reading, true);
  statePackage(tableOf(root.package), reading);
}

/** `vendor/<crate>/Cargo.toml`: what a vendored crate says of itself. */
export function readVendoredCrate(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const crate = tableOf(content.value.package);
  const name = textOf(crate.name);
  if (name === '') {
    reading.problem('it says no name');
    return;
  }
  statesLicense(reading, name, textOf(crate.version), choiceOf(textOf(crate.license)));
  reading.declare({
    key: name,
    name,
    requirement: textOf(crate.version),
    scope: 'unknown',
    field: 'vendored',
    needNotBeLocked: true,
  });
}

/** Old crates write a choice with a slash. */
function choiceOf(license: string): string | undefined {
  return license === '' ? undefined : license.replace(/\s*\/\s*/g, ' OR ');
}

function statePackage(crate: Table, reading: ReadingBuilder): void {
  const name = textOf(crate.name);
  if (name !== '') reading.local.add(name);
}

/** Declares the dependencies of one table. */
export function declareTable(
  value: unknown,
  field: string,
  scope: LockedPackage['scope'],
  text: string,
  reading: ReadingBuilder,
  isOverride = false,
): void {
  if (value !== undefined && !isTable(value)) {
    reading.problem(`\`${field}\` is no table`);
    return;
  }
  const lines = new LineFinder(text);
  const short = field.split('.').at(-1) ?? field;
  lines.next(short);
  for (const [key, spec] of entriesOf(value)) {
    if (typeof spec !== 'string' && !isTable(spec)) {
      reading.problem(`a value of \`${field}\` cannot be understood`);
      continue;
    }
    const table = tableOf(spec);
    // Its real name and source stand in the workspace's own table.
    if (table.workspace === true) continue;
    const requirement = typeof spec === 'string' ? spec : textOf(table.version);
    const place = sourceOf(table, reading.path);
    const version =
      place.source === 'registry' ? /^=\s*(\d[\w.+-]*)$/.exec(requirement.trim())?.[1] : undefined;
    const line = lines.next(key);
    reading.source(`registry of ${textOf(table.package) || key}`, table['registry-index'] ?? table.registry, {
      line,
    });
    reading.declare({
      key,
      name: textOf(table.package) || key,
      requirement,
      scope: table.optional === true ? 'optional' : scope,
      field,
      ...place,
      ...(version === undefined ? {} : { version }),
      ...(line === undefined ? {} : { line }),
      ...(isOverride ? { isOverride: true } : {}),
      ...(isOverride || field === 'workspace.dependencies' || place.source === 'path'
        ? { needNotBeLocked: true }
        : {}),
    });
  }
}

function sourceOf(table: Table, path: string): { readonly source: SourceKind; readonly origin?: string } {
  if (typeof table.git === 'string') return { source: 'git', origin: cleanUrl(table.git) };
  if (typeof table.path === 'string') return { source: 'path', origin: placeOf(path, table.path) };
  const registry = textOf(table['registry-index']) || textOf(table.registry);
  return { source: 'registry', ...(registry === '' ? {} : { origin: registry }) };
}

/** Cargo.lock, versions 1 to 4. A package without a source is part of the repository; what it asks for is direct. */
export function readCargoLock(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const root = content.value;
  if (root.package === undefined && root.version === undefined) {
    reading.problem('it holds neither packages nor a version');
    return;
  }
  if (root.version !== undefined && ![1, 2, 3, 4].includes(Number(root.version))) {
    reading.problem('its `version` is none of 1 to 4');
    return;
  }
  reading.knowsDirect = true;
  const metadata = tableOf(root.metadata);
  const builder = new LockBuilder(reading);
  const lines = new LineFinder(text);
  const byName = new Map<string, string>();
  const keyed = new Map<string, string>();
  const direct = new Set<string>();
  const rows: {
    readonly name: string;
    readonly version: string;
    readonly source: string;
    readonly line: number | undefined;
    readonly entry: Table;
  }[] = [];
  for (const entry of [...listOf(root.package), ...(isTable(root.root) ? [root.root] : [])]) {
    const name = isTable(entry) ? textOf(entry.name) : '';
    if (!isTable(entry) || name === '') {
      reading.problem('a package has no name');
      continue;
    }
    const version = textOf(entry.version);
    const source = textOf(entry.source);
    const line = lines.next(`name = ${JSON.stringify(name)}`);
    if (source === '') {
      reading.local.add(name);
      for (const asked of listOf(entry.dependencies)) direct.add(textOf(asked));
      continue;
    }
    const key = `${name} ${version} (${source})`;
    keyed.set(`${name} ${version}`, key);
    byName.set(name, key);
    rows.push({ name, version, source, line, entry });
  }
  for (const { name, version, source, line, entry } of rows) {
    const key = `${name} ${version} (${source})`;
    const isGit = source.startsWith('git+');
    const checksum = textOf(entry.checksum) || textOf(metadata[`checksum ${key}`]);
    builder.add(key, {
      name,
      version,
      source: isGit ? 'git' : 'registry',
      origin: isGit || !isCratesIo(source) ? cleanUrl(source) : undefined,
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
function isCratesIo(source: string): boolean {
  return /^(?:registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|(?:sparse|registry)\+https:\/\/index\.crates\.io\/?)$/.test(
    source,
  );
}
