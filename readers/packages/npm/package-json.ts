/* Reads `package.json`. */
import { entriesOf, isTable, type LineFinder, type Table, tableOf } from '../content.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { looseWhenOn, readSettings } from '../reading.ts';
import { exactVersion, npmLicense, npmSource } from './npm-source.ts';

export const npmFields: readonly (readonly [string, LockedPackage['scope']])[] = [
  ['dependencies', 'runtime'],
  ['optionalDependencies', 'optional'],
  ['devDependencies', 'development'],
  ['peerDependencies', 'runtime'],
];
const maxDepth = 50;

/**
 * Parses a package.json. An override or resolution counts only if it replaces a package with another one (alias, git,
 * URL).
 */
export function readPackageJson(root: Table, reading: ReadingBuilder): void {
  for (const [field, scope] of npmFields)
    for (const [key, spec, line] of reading.dependenciesIn(field, root[field])) {
      const { source, name, requirement, origin } = npmSource(key, String(spec));
      reading.declare({
        key,
        name,
        requirement: String(spec),
        scope,
        field,
        source,
        version: exactVersion(requirement),
        origin: source === 'path' ? reading.placeOf(origin ?? '') : origin,
        line,
        needNotBeLocked: field === 'peerDependencies',
      });
    }
  const lines = reading.lines();
  for (const field of ['overrides', 'resolutions']) readOverrides(root[field], field, reading, lines);
  if (isTable(root.pnpm)) {
    readOverrides(root.pnpm.overrides, 'pnpm.overrides', reading, lines);
    readPnpmSettings(root.pnpm, 'pnpm', reading);
  }
  readSettings(reading, root, { 'trustedDependencies.*': 'added' });
  const manager = root.packageManager;
  if (typeof manager === 'string' && manager.includes('://'))
    reading.source('packageManager', manager.replace(/^[\w-]+@/, ''));
  // Yarn and pnpm also read catalogues here.
  const { catalog, catalogs } = { ...tableOf(root.workspaces), ...root };
  readOverrides(catalog, 'catalog', reading, lines);
  for (const [name, value] of entriesOf(catalogs)) readOverrides(value, `catalogs.${name}`, reading, lines);
  if (typeof root.name === 'string') reading.local.add(root.name);
}

/** Declares packages that overrides, resolutions or catalogues replace with another package. */
export function readOverrides(
  value: unknown,
  field: string,
  reading: ReadingBuilder,
  lines: LineFinder,
  parent = '',
  depth = 0,
): void {
  if (depth > maxDepth) return void reading.problem(`\`${field}\` is nested deeper than ${maxDepth}`);
  for (const [key, spec] of entriesOf(value)) {
    const name = key === '.' ? parent : nameOfOverride(key);
    if (isTable(spec)) readOverrides(spec, field, reading, lines, name, depth + 1);
    else if (typeof spec === 'string' && name !== '') {
      const target = npmSource(name, spec);
      // `-` and a version alone only pin or remove what is there already.
      if (spec === '-' || spec.startsWith('$') || target.isWorkspace) continue;
      if (target.source === 'registry' && target.name === name) continue;
      reading.declare({
        key: name,
        name: target.name,
        requirement: spec,
        scope: 'unknown',
        field,
        source: target.source,
        isOverride: true,
        needNotBeLocked: true,
        origin: target.source === 'path' ? reading.placeOf(target.origin ?? '') : target.origin,
        line: lines.next(`${JSON.stringify(key)}:`),
      });
    } else reading.problem(`a value of \`${field}\` cannot be understood`);
  }
}

/** `a@1`, `parent/a`, `parent>a` and `**\/a` all speak of `a`. */
function nameOfOverride(key: string): string {
  const path = (key.split('>').at(-1) ?? '').trim().split('/');
  const last = path.slice(path.at(-2)?.startsWith('@') ? -2 : -1).join('/');
  const at = last.indexOf('@', 1);
  return at === -1 ? last : last.slice(0, at);
}

/**
 * `node_modules/<name>/package.json`: name, version and license of the installed package. It requires no package on
 * the project's behalf.
 */
export function readInstalledPackage(root: Table, reading: ReadingBuilder): void {
  const { name } = root;
  if (typeof name !== 'string') return void reading.problem('it says no name');
  const version = typeof root.version === 'string' ? root.version : '';
  reading.license(name, version, npmLicense(root));
  reading.declare({
    key: name,
    name,
    requirement: version,
    scope: 'unknown',
    field: 'installed',
    needNotBeLocked: true,
  });
}

/** Settings of pnpm, which are in `pnpm` of package.json as well as in its workspace file. */
export function readPnpmSettings(settings: Table, prefix: string, reading: ReadingBuilder): void {
  const configured = entriesOf(settings.configDependencies).map(
    ([name, value]) => [name, tableOf(value).tarball ?? 'registry'] as const,
  );
  readSettings(
    reading,
    { ...settings, configDependencies: Object.fromEntries(configured) },
    {
      'patchedDependencies.*': 'place',
      'configDependencies.*': 'place',
      'allowBuilds.*': looseWhenOn,
      'onlyBuiltDependencies.*': 'added',
      'packageExtensions.*.dependencies.*': 'place',
    },
    prefix,
  );
}
