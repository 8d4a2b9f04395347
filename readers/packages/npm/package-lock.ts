/* Reads lockfiles of npm. */
import { entriesOf, isTable, type LineFinder, type Table, tableOf, textOf } from '../content.ts';
import { fromSri, LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { type NpmSource, npmLicense, npmPlace, npmSource } from './npm-source.ts';
import { npmFields } from './package-json.ts';

const maxDepth = 100;
const marker = 'node_modules/';

/**
 * Reads package-lock.json and npm-shrinkwrap.json, versions 1, 2 and 3. Version 2 lists every package twice; both
 * lists are read.
 */
export function readPackageLock(root: Table, reading: ReadingBuilder): void {
  if (!isTable(root.packages) && !isTable(root.dependencies) && root.lockfileVersion === undefined)
    return void reading.problem('it has neither `packages` nor `dependencies`');
  if (root.lockfileVersion !== undefined && ![1, 2, 3].includes(Number(root.lockfileVersion)))
    return void reading.problem('its `lockfileVersion` is none of 1, 2, 3');
  const builder = new LockBuilder(reading);
  const links = new Set<string>();
  if (isTable(root.packages)) readPackages(root.packages, reading, builder, links);
  readTree(root.dependencies, '', reading, builder, reading.lines(), 0);
  builder.finish((asked, from) => find(asked, from, builder, links));
}

function readPackages(
  packages: Table,
  reading: ReadingBuilder,
  builder: LockBuilder,
  links: Set<string>,
): void {
  const lines = reading.lines();
  reading.knowsDirect = true;
  reading.mirrored = new Map();
  const direct = new Set<string>();
  const rows: [string, Table][] = [];
  for (const [location, value] of Object.entries(packages)) {
    if (!isTable(value)) {
      reading.problem('an entry of `packages` is not an object');
      continue;
    }
    const at = location.lastIndexOf(marker);
    if (value.link === true) {
      const name = location.slice(at + marker.length);
      const target = reading.placeOf(textOf(value.resolved));
      if (target.startsWith('../'))
        builder.add(location, { name, version: '', source: 'path', origin: target, direct: true, asks: [] });
      else reading.local.add(name);
      links.add(location);
    } else if (at === -1) {
      readMember(location, value, reading, direct);
    } else rows.push([location, value]);
  }
  for (const [location, value] of rows) {
    const at = location.lastIndexOf(marker);
    const key = location.slice(at + marker.length);
    const isTop = location.indexOf(marker) === at;
    addEntry(builder, reading, location, key, value, {
      direct: isTop && direct.has(`${location.slice(0, at)} ${key}`),
      asks: asksOf(value),
      line: lines.next(`${JSON.stringify(location)}:`),
    });
  }
}

/** The project or a workspace: its dependencies are direct, wherever Node resolves them. */
function readMember(directory: string, entry: Table, reading: ReadingBuilder, direct: Set<string>): void {
  const mirror = new Map<string, string>();
  const below = directory === '' ? '' : `${directory}/`;
  for (const [field] of npmFields)
    for (const [name, spec] of entriesOf(entry[field])) {
      direct.add(`${below} ${name}`);
      direct.add(` ${name}`);
      if (typeof spec === 'string') mirror.set(name, spec);
    }
  if (typeof entry.name === 'string') reading.local.add(entry.name);
  reading.mirrored?.set(directory, mirror);
}

function asksOf(entry: Table): readonly string[] {
  return ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
    Object.keys(tableOf(entry[field])),
  );
}

function addEntry(
  builder: LockBuilder,
  reading: ReadingBuilder,
  location: string,
  key: string,
  entry: Table,
  more: { readonly direct: boolean; readonly asks: readonly string[]; readonly line: number | undefined },
): void {
  const written = textOf(entry.version);
  const resolved = textOf(entry.resolved);
  const alias = /^npm:((?:@[^/@]+\/)?[^@]+)@(.*)$/.exec(written);
  const name = alias?.[1] ?? (typeof entry.name === 'string' ? entry.name : key);
  builder.add(location, {
    name,
    version: alias?.[2] ?? (/^[\w+.-]+:/.test(written) ? '' : written),
    ...npmPlace(reading, sourceOf(name, written, resolved), resolved || written),
    license: npmLicense(entry),
    integrity: fromSri(textOf(entry.integrity)),
    scope: scopeOf(entry),
    ...more,
  });
}

function sourceOf(name: string, version: string, resolved: string): NpmSource {
  for (const text of [resolved, version])
    if (/^git(?:\+\w+)?:|^git@|^ssh:|^file:|^github:/.test(text)) return npmSource(name, text);
  return { source: /^https?:/i.test(version) ? 'url' : 'registry', name, requirement: '' };
}

function scopeOf(entry: Table): LockedPackage['scope'] {
  if (entry.dev === true) return 'development';
  if (entry.optional === true || entry.devOptional === true) return 'optional';
  return 'runtime';
}

/** Version 1, and the second list of version 2: a tree of names. */
function readTree(
  value: unknown,
  parent: string,
  reading: ReadingBuilder,
  builder: LockBuilder,
  lines: LineFinder,
  depth: number,
): void {
  if (depth > maxDepth) {
    reading.problem(`\`dependencies\` is nested deeper than ${maxDepth}`);
    return;
  }
  for (const [key, entry] of entriesOf(value)) {
    if (!isTable(entry)) {
      reading.problem('an entry of `dependencies` is not an object');
      continue;
    }
    const location = `${parent}${marker}${key}`;
    const line = builder.entries.has(location) ? undefined : lines.next(`${JSON.stringify(key)}:`);
    const { source, origin } = npmSource(key, textOf(entry.version));
    const isDirectory = source === 'path' && !/\.(?:tgz|tar|tar\.gz)$/.test(origin ?? '');
    if (isDirectory) reading.local.add(key);
    else {
      const asks = Object.keys(tableOf(entry.requires));
      addEntry(builder, reading, location, key, entry, { direct: false, asks, line });
    }
    readTree(entry.dependencies, `${location}/`, reading, builder, lines, depth + 1);
  }
}

/** Resolves as Node does: `node_modules` beside the requiring package, then in each directory above it. */
function find(
  name: string,
  from: string,
  builder: LockBuilder,
  links: ReadonlySet<string>,
): string | undefined {
  for (let directory = from; ; ) {
    const location = `${directory === '' ? '' : `${directory}/`}${marker}${name}`;
    if (builder.entries.has(location)) return location;
    if (links.has(location) || directory === '') return undefined;
    const at = directory.lastIndexOf(`/${marker}`);
    directory = at === -1 ? '' : directory.slice(0, at);
  }
}
