import { entriesOf, isTable, listOf, type Table, tableOf, textOf, tomlContent } from '../content.ts';
import { LineFinder } from '../line-finder.ts';
import type { LockedPackage } from '../locked-package.ts';
import { cleanUrl } from '../origin.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';
import { indexSource, readProjectSources } from './python-config.ts';
import { exactPythonVersion, parseRequirement, pythonName } from './python-name.ts';

type Scope = LockedPackage['scope'];

/**
 * pyproject.toml: PEP 621, PEP 735 groups, build requirements, and the tables of poetry, pdm, uv and hatch
 * environments.
 */
export function readPyproject(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  const root = content.value;
  const project = tableOf(root.project);
  const tool = tableOf(root.tool);
  const sources = new Map(
    entriesOf(tableOf(tool.uv).sources).map(([name, value]) => [pythonName(name), value] as const),
  );
  const listed = (value: unknown, field: string, scope: Scope, needNotBeLocked = false): void => {
    const lines = new LineFinder(text);
    for (const item of listOf(value)) {
      if (isTable(item) && 'include-group' in item) continue;
      const requirement = typeof item === 'string' ? parseRequirement(item) : undefined;
      if (requirement === undefined) reading.problem(`an entry of \`${field}\` cannot be understood`);
      else {
        const line = lines.next(String(item).slice(0, 200));
        const place = placeOf(sources.get(requirement.name)) ?? requirement;
        const { key, name, version } = requirement;
        reading.declare({
          key,
          name,
          requirement: requirement.requirement,
          scope,
          field,
          source: place.source,
          ...(place.origin ? { origin: place.origin } : {}),
          ...(version === undefined || place.source !== 'registry' ? {} : { version }),
          ...(line === undefined ? {} : { line }),
          ...(needNotBeLocked || place.source === 'path' ? { needNotBeLocked: true } : {}),
        });
      }
    }
  };
  if (isTable(root.project) && listOf(project.dynamic).includes('dependencies'))
    reading.note('its dependencies are dynamic: a build step names them');
  listed(project.dependencies, 'project.dependencies', 'runtime');
  for (const [extra, list] of entriesOf(project['optional-dependencies']))
    listed(list, `project.optional-dependencies.${extra}`, 'optional');
  for (const [group, list] of entriesOf(root['dependency-groups']))
    listed(list, `dependency-groups.${group}`, 'development');
  listed(tableOf(root['build-system']).requires, 'build-system.requires', 'development', true);
  listed(tableOf(tool.uv)['dev-dependencies'], 'tool.uv.dev-dependencies', 'development');
  for (const [group, list] of entriesOf(tableOf(tool.pdm)['dev-dependencies']))
    listed(list, `tool.pdm.dev-dependencies.${group}`, 'development');
  for (const [name, environment] of entriesOf(tableOf(tool.hatch).envs))
    listed(tableOf(environment).dependencies, `tool.hatch.envs.${name}.dependencies`, 'development', true);
  readPoetry(tableOf(tool.poetry), text, reading);
  readProjectSources(tool, reading);
  const name = textOf(project.name) || textOf(tableOf(tool.poetry).name);
  if (name !== '') reading.local.add(pythonName(name));
}

function readPoetry(poetry: Table, text: string, reading: ReadingBuilder): void {
  poetryTable(poetry.dependencies, 'tool.poetry.dependencies', 'runtime', text, reading);
  poetryTable(poetry['dev-dependencies'], 'tool.poetry.dev-dependencies', 'development', text, reading);
  for (const [group, value] of entriesOf(poetry.group)) {
    const field = `tool.poetry.group.${group}.dependencies`;
    poetryTable(tableOf(value).dependencies, field, 'development', text, reading);
  }
}

/** `name = "^1"`, `name = { version, git, path, url, optional }`, or a list of those. */
function poetryTable(
  value: unknown,
  field: string,
  scope: Scope,
  text: string,
  reading: ReadingBuilder,
): void {
  const lines = new LineFinder(text);
  lines.next(`[${field}`);
  for (const [key, spec] of entriesOf(value)) {
    if (pythonName(key) === 'python') continue;
    const line = lines.next(`\n${key}`);
    for (const one of Array.isArray(spec) ? spec.slice(0, 50) : [spec]) {
      if (typeof one !== 'string' && !isTable(one)) {
        reading.problem(`a value of \`${field}\` cannot be understood`);
        continue;
      }
      const requirement = typeof one === 'string' ? one : textOf(one.version);
      const place = placeOf(one) ?? { source: 'registry' as const };
      reading.source(`source of ${pythonName(key)}`, tableOf(one).source);
      const bare = /^==?\s*|^/.exec(requirement)?.[0] ?? '';
      const version =
        place.source === 'registry' && /^(?:==?\s*)?\d[\w.+!-]*$/.test(requirement)
          ? requirement.slice(bare.length)
          : undefined;
      reading.declare({
        key,
        name: pythonName(key),
        requirement,
        scope: isTable(one) && one.optional === true ? 'optional' : scope,
        field,
        source: place.source,
        ...('origin' in place && place.origin ? { origin: place.origin } : {}),
        ...(version === undefined ? {} : { version }),
        ...(line === undefined ? {} : { line: line + 1 }),
        ...(place.source === 'path' ? { needNotBeLocked: true } : {}),
      });
    }
  }
}

function placeOf(value: unknown): { readonly source: SourceKind; readonly origin?: string } | undefined {
  const table = tableOf(Array.isArray(value) ? value[0] : value);
  if (typeof table.git === 'string') return { source: 'git', origin: cleanUrl(table.git) };
  if (typeof table.url === 'string') return { source: 'url', origin: cleanUrl(table.url) };
  const path = table.path ?? table.file;
  if (typeof path === 'string') return { source: 'path', origin: path };
  return table.workspace === true ? { source: 'path', origin: '.' } : undefined;
}

/** Pipfile: `packages`, `dev-packages` and other categories. */
export function readPipfile(text: string, reading: ReadingBuilder): void {
  const content = tomlContent(text);
  if ('reason' in content) {
    reading.problem(content.reason);
    return;
  }
  for (const table of listOf(content.value.source).map(tableOf)) indexSource(reading, 'source', table);
  for (const [section, table] of entriesOf(content.value)) {
    if (['source', 'requires', 'scripts', 'pipenv', 'pipfile'].includes(section)) continue;
    const lines = new LineFinder(text);
    lines.next(`[${section}]`);
    for (const [key, spec] of entriesOf(table)) {
      const requirement = typeof spec === 'string' ? spec : textOf(tableOf(spec).version);
      const place = placeOf(spec) ?? { source: 'registry' as const };
      const version = place.source === 'registry' ? exactPythonVersion(requirement) : undefined;
      const line = lines.next(`\n${key}`);
      reading.source(`index of ${pythonName(key)}`, tableOf(spec).index);
      reading.declare({
        key,
        name: pythonName(key),
        requirement: requirement === '*' ? '' : requirement,
        scope: section === 'packages' ? 'runtime' : 'development',
        field: section,
        source: place.source,
        ...('origin' in place && place.origin ? { origin: place.origin } : {}),
        ...(version === undefined ? {} : { version }),
        ...(line === undefined ? {} : { line: line + 1 }),
        ...(place.source === 'path' ? { needNotBeLocked: true } : {}),
      });
    }
  }
}
