import { entriesOf, isTable, jsonContent, tableOf } from '../content.ts';
import { LineFinder } from '../line-finder.ts';
import type { LockedPackage } from '../locked-package.ts';
import { placeOf } from '../place-of.ts';
import type { ReadingBuilder } from '../reading.ts';
import { statesLicense } from '../states-license.ts';
import { readList, readPnpmSettings } from './npm-settings.ts';
import { exactVersion, npmLicense, npmSource } from './npm-source.ts';

export const npmFields: readonly (readonly [string, LockedPackage['scope']])[] = [
  ['dependencies', 'runtime'],
  ['optionalDependencies', 'optional'],
  ['devDependencies', 'development'],
  ['peerDependencies', 'runtime'],
];
const maxDepth = 50;

/** A package.json. An override or resolution counts where it replaces a package by another one (alias, git, URL). */
export function readPackageJson(text: string, reading: ReadingBuilder): void {
  const content = jsonContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const manifest = content.value;
  const lines = new LineFinder(text);
  for (const [field, scope] of npmFields) {
    const value = manifest[field];
    const inField = new LineFinder(text);
    inField.next(`${JSON.stringify(field)}:`);
    if (value !== undefined && !isTable(value)) reading.problem(`\`${field}\` is not an object`);
    for (const [key, spec] of entriesOf(value)) {
      if (typeof spec === 'string') declareNpm(reading, { key, spec, field, scope }, inField);
      else reading.problem(`a value of \`${field}\` is not a string`);
    }
  }
  for (const field of ['overrides', 'resolutions'])
    readOverrides(manifest[field], field, undefined, reading, lines, 0);
  const pnpm = manifest.pnpm;
  if (isTable(pnpm)) {
    readOverrides(pnpm.overrides, 'pnpm.overrides', undefined, reading, lines, 0);
    readPnpmSettings(pnpm, 'pnpm.', reading);
  }
  readList(reading, manifest, 'trustedDependencies');
  const manager = manifest.packageManager;
  if (typeof manager === 'string' && manager.includes('://'))
    reading.source('packageManager', manager.replace(/^[\w-]+@/, ''));
  // Yarn and pnpm take catalogues from here too.
  const { catalog, catalogs } = { ...tableOf(manifest.workspaces), ...manifest };
  readOverrides(catalog, 'catalog', undefined, reading, lines, 0);
  for (const [name, value] of entriesOf(catalogs))
    readOverrides(value, `catalogs.${name}`, undefined, reading, lines, 0);
  if (typeof manifest.name === 'string') reading.local.add(manifest.name);
}

/** Declares one entry of a dependency field. */
export function declareNpm(
  reading: ReadingBuilder,
  entry: {
    readonly key: string;
    readonly spec: string;
    readonly field: string;
    readonly scope: LockedPackage['scope'];
  },
  lines: LineFinder | undefined,
): void {
  const { key, spec, field, scope } = entry;
  const { source, name, requirement, origin } = npmSource(key, spec);
  const line = lines?.next(`${JSON.stringify(key)}:`);
  const version = source === 'registry' ? exactVersion(requirement) : undefined;
  const path = source === 'path' ? placeOf(reading.path, origin ?? '') : origin;
  reading.declare({
    key,
    name,
    requirement: spec,
    scope,
    field,
    source,
    ...(version === undefined ? {} : { version }),
    ...(path ? { origin: path } : {}),
    ...(line === undefined ? {} : { line }),
    ...(field === 'peerDependencies' || source === 'path' ? { needNotBeLocked: true } : {}),
  });
}

/** Declares what overrides, resolutions or catalogues replace by another package. */
export function readOverrides(
  value: unknown,
  field: string,
  parent: string | undefined,
  reading: ReadingBuilder,
  lines: LineFinder,
  depth: number,
): void {
  if (depth > maxDepth) {
    reading.problem(`\`${field}\` is nested deeper than ${maxDepth}`);
    return;
  }
  for (const [key, spec] of entriesOf(value)) {
    const name = key === '.' ? (parent ?? '') : nameOfOverride(key);
    if (isTable(spec)) readOverrides(spec, field, name, reading, lines, depth + 1);
    else if (typeof spec === 'string' && name !== '') {
      const target = npmSource(name, spec);
      // `-` and a version alone only pin or remove what is there already.
      if (spec === '-' || spec.startsWith('$') || target.isWorkspace) continue;
      if (target.source === 'registry' && target.name === name) continue;
      const origin = target.source === 'path' ? placeOf(reading.path, target.origin ?? '') : target.origin;
      reading.declare({
        key: name,
        name: target.name,
        requirement: spec,
        scope: 'unknown',
        field,
        source: target.source,
        isOverride: true,
        needNotBeLocked: true,
        ...(origin ? { origin } : {}),
        ...lineOf(lines.next(`${JSON.stringify(key)}:`)),
      });
    } else reading.problem(`a value of \`${field}\` cannot be understood`);
  }
}

function lineOf(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

/** `a@1`, `parent/a`, `parent>a` and `**\/a` all speak of `a`. */
function nameOfOverride(key: string): string {
  const path = (key.split('>').at(-1) ?? '').trim().split('/');
  const last = path.slice(path.at(-2)?.startsWith('@') ? -2 : -1).join('/');
  const at = last.indexOf('@', 1);
  return at === -1 ? last : last.slice(0, at);
}

/**
 * `node_modules/<name>/package.json`: name, version and license of what lies there; it asks for nothing on the
 * project's behalf.
 */
export function readInstalledPackage(text: string, reading: ReadingBuilder): void {
  const content = jsonContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const { name, version } = content.value;
  if (typeof name !== 'string') {
    reading.problem('it says no name');
    return;
  }
  statesLicense(reading, name, typeof version === 'string' ? version : '', npmLicense(content.value));
  reading.declare({
    key: name,
    name,
    requirement: typeof version === 'string' ? version : '',
    scope: 'unknown',
    field: 'installed',
    needNotBeLocked: true,
  });
}
