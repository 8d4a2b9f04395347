/* Reads lockfiles of npm. */
import { entriesOf, isTable, type LineFinder, type Table, tableOf, textOf } from '../content.ts';
import { fromSri, LockBuilder, type LockEntry } from '../lock-builder.ts';
import type { ReadingBuilder } from '../reading.ts';
import { npmLicense, npmPlace, npmSource } from './npm-source.ts';
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
  // As Node resolves: `node_modules` beside the requiring package, then in each directory above it.
  builder.finish((asked, from) => {
    for (let directory = from; ; directory = directory.slice(0, at(directory) - 1)) {
      const location = `${directory === '' ? '' : `${directory}/`}${marker}${asked}`;
      if (builder.entries.has(location)) return location;
      if (links.has(location) || directory === '') return undefined;
    }
  });
}

/** Where the last `node_modules/` behind a slash begins; 1 where there is none: the root is above. */
function at(directory: string): number {
  return Math.max(directory.lastIndexOf(`/${marker}`), 0) + 1;
}

function readPackages(
  packages: Table,
  reading: ReadingBuilder,
  builder: LockBuilder,
  links: Set<string>,
): void {
  reading.knowsDirect = true;
  reading.mirrored = new Map();
  const direct = new Set<string>();
  const rows: [string, Table][] = [];
  for (const [location, value] of Object.entries(packages)) {
    if (!isTable(value)) reading.problem('an entry of `packages` is not an object');
    else if (value.link === true) {
      const origin = reading.placeOf(textOf(value.resolved));
      const name = nameAt(location);
      if (!origin.startsWith('../')) reading.local.add(name);
      else builder.add(location, { name, version: '', source: 'path', origin, direct: true, asks: [] });
      links.add(location);
    } else if (location.includes(marker)) rows.push([location, value]);
    else {
      // The project or a workspace: its dependencies are direct, wherever Node resolves them.
      const specs = npmFields.flatMap(([field]) => entriesOf(value[field]));
      for (const [name] of specs) direct.add(`${marker}${name}`).add(`${location}/${marker}${name}`);
      if (typeof value.name === 'string') reading.local.add(value.name);
      const written = specs.flatMap(([name, spec]) =>
        typeof spec === 'string' ? [[name, spec] as const] : [],
      );
      reading.mirrored.set(location, new Map(written));
    }
  }
  const lines = reading.lines();
  for (const [location, value] of rows) {
    const asks = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
      Object.keys(tableOf(value[field])),
    );
    const line = lines.next(`${JSON.stringify(location)}:`);
    builder.add(location, {
      ...describe(location, value, reading),
      direct: direct.has(location),
      asks,
      line,
    });
  }
}

function nameAt(location: string): string {
  return location.slice(location.lastIndexOf(marker) + marker.length);
}

function describe(location: string, entry: Table, reading: ReadingBuilder): Omit<LockEntry, 'asks'> {
  const written = textOf(entry.version);
  const resolved = textOf(entry.resolved);
  const alias = /^npm:((?:@[^/@]+\/)?[^@]+)@(.*)$/.exec(written);
  const name = alias?.[1] ?? (typeof entry.name === 'string' ? entry.name : nameAt(location));
  const place = [resolved, written].find((text) => /^git(?:\+\w+)?:|^git@|^ssh:|^file:|^github:/.test(text));
  const source = /^https?:/i.test(written) ? 'url' : 'registry';
  const isOptional = entry.optional === true || entry.devOptional === true;
  return {
    name,
    version: alias?.[2] ?? (/^[\w+.-]+:/.test(written) ? '' : written),
    ...npmPlace(
      reading,
      place === undefined ? { source, name, requirement: '' } : npmSource(name, place),
      resolved || written,
    ),
    license: npmLicense(entry),
    integrity: fromSri(textOf(entry.integrity)),
    scope: entry.dev === true ? 'development' : isOptional ? 'optional' : 'runtime',
  };
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
  if (depth > maxDepth) return void reading.problem(`\`dependencies\` is nested deeper than ${maxDepth}`);
  for (const [key, entry] of entriesOf(value)) {
    if (!isTable(entry)) {
      reading.problem('an entry of `dependencies` is not an object');
      continue;
    }
    const location = `${parent}${marker}${key}`;
    const line = builder.entries.has(location) ? undefined : lines.next(`${JSON.stringify(key)}:`);
    const { source, origin } = npmSource(key, textOf(entry.version));
    const asks = Object.keys(tableOf(entry.requires));
    if (source === 'path' && !/\.(?:tgz|tar|tar\.gz)$/.test(origin ?? '')) reading.local.add(key);
    else builder.add(location, { ...describe(location, entry, reading), asks, line });
    readTree(entry.dependencies, `${location}/`, reading, builder, lines, depth + 1);
  }
}
