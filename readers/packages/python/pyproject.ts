/* Reads Python manifests: `pyproject.toml`, `Pipfile` and `setup.py`. */
import { entriesOf, isTable, listOf, type Table, tableOf, textOf } from '../content.ts';
import { cleanUrl, type LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder, SourceKind } from '../reading.ts';
import { declareSetup, indexSource, readProjectSources } from './python-config.ts';
import { parseRequirement, pythonName } from './requirements.ts';

type Scope = LockedPackage['scope'];

/**
 * pyproject.toml: PEP 621, PEP 735 groups, build requirements, and the tables of poetry, pdm, uv and hatch
 * environments.
 */
export function readPyproject(root: Table, reading: ReadingBuilder): void {
  const project = tableOf(root.project);
  const tool = tableOf(root.tool);
  const poetry = tableOf(tool.poetry);
  const sources = new Map(
    entriesOf(tableOf(tool.uv).sources).map(([name, value]) => [pythonName(name), value] as const),
  );
  const listed = (value: unknown, field: string, scope: Scope, needNotBeLocked = false): void => {
    const lines = reading.lines();
    for (const item of listOf(value)) {
      if (isTable(item) && 'include-group' in item) continue;
      const requirement = parseRequirement(textOf(item));
      if (requirement === undefined) {
        reading.problem(`an entry of \`${field}\` cannot be understood`);
        continue;
      }
      reading.declare({
        ...requirement,
        ...placeOf(sources.get(requirement.name)),
        scope,
        field,
        line: lines.next(String(item).slice(0, 200)),
        needNotBeLocked,
      });
    }
  };
  const groups = (value: unknown, field: string, scope: Scope): void => {
    for (const [group, list] of entriesOf(value)) listed(list, `${field}.${group}`, scope);
  };
  if (isTable(root.project) && listOf(project.dynamic).includes('dependencies'))
    reading.note('its dependencies are dynamic: a build step names them');
  listed(project.dependencies, 'project.dependencies', 'runtime');
  groups(project['optional-dependencies'], 'project.optional-dependencies', 'optional');
  groups(root['dependency-groups'], 'dependency-groups', 'development');
  listed(tableOf(root['build-system']).requires, 'build-system.requires', 'development', true);
  listed(tableOf(tool.uv)['dev-dependencies'], 'tool.uv.dev-dependencies', 'development');
  groups(tableOf(tool.pdm)['dev-dependencies'], 'tool.pdm.dev-dependencies', 'development');
  for (const [name, environment] of entriesOf(tableOf(tool.hatch).envs))
    listed(tableOf(environment).dependencies, `tool.hatch.envs.${name}.dependencies`, 'development', true);
  readTable(poetry.dependencies, 'tool.poetry.dependencies', 'runtime', reading);
  readTable(poetry['dev-dependencies'], 'tool.poetry.dev-dependencies', 'development', reading);
  for (const [group, value] of entriesOf(poetry.group))
    readTable(tableOf(value).dependencies, `tool.poetry.group.${group}.dependencies`, 'development', reading);
  readProjectSources(tool, reading);
  const name = textOf(project.name) || textOf(poetry.name);
  if (name !== '') reading.local.add(pythonName(name));
}

/** Pipfile: `packages`, `dev-packages` and other categories. */
export function readPipfile(root: Table, reading: ReadingBuilder): void {
  for (const table of listOf(root.source).map(tableOf)) indexSource(reading, 'source', table);
  for (const [section, table] of entriesOf(root))
    if (!['source', 'requires', 'scripts', 'pipenv', 'pipfile'].includes(section))
      readTable(table, section, section === 'packages' ? 'runtime' : 'development', reading);
}

/**
 * Requirements of poetry and pipenv: `name = "^1"`, `name = { version, git, path, url, optional, source, index }`, or a
 * list of those. A version alone is exact for poetry, one with `==` for both.
 */
function readTable(value: unknown, field: string, scope: Scope, reading: ReadingBuilder): void {
  const isPipfile = reading.kind.id === 'Pipfile';
  const exact = isPipfile ? /^===?\s*([\w.+!-]+)$/ : /^(?:==?\s*)?(\d[\w.+!-]*)$/;
  for (const [key, spec, line] of reading.dependenciesIn(field, value)) {
    const name = pythonName(key);
    if (name === 'python' && !isPipfile) continue;
    const { version, optional, source, index } = tableOf(spec);
    const requirement = typeof spec === 'string' ? spec : textOf(version);
    reading.source(`source of ${name}`, source);
    reading.source(`index of ${name}`, index);
    reading.declare({
      key,
      name,
      requirement: isPipfile && requirement === '*' ? '' : requirement,
      scope: optional === true ? 'optional' : scope,
      field,
      source: 'registry',
      ...placeOf(spec),
      version: exact.exec(requirement.trim())?.[1],
      line,
    });
  }
}

function placeOf(value: unknown): { readonly source: SourceKind; readonly origin: string } | undefined {
  const table = tableOf(Array.isArray(value) ? value[0] : value);
  if (typeof table.git === 'string') return { source: 'git', origin: cleanUrl(table.git) };
  if (typeof table.url === 'string') return { source: 'url', origin: cleanUrl(table.url) };
  const path = table.path ?? table.file;
  if (typeof path === 'string') return { source: 'path', origin: path };
  return table.workspace === true ? { source: 'path', origin: '.' } : undefined;
}

const field = /\b(install_requires|setup_requires|tests_require|extras_require|dependency_links)\b/g;
const maxLiteral = 65_536;
const maxFields = 50;
const string = `(?:"[^"\\\\\\n]*"|'[^'\\\\\\n]*')`;
const itemsOf = (item: string): string => `\\s*(?:${item}\\s*,\\s*)*(?:${item}\\s*)?`;
const list = `[[(]${itemsOf(string)}[\\])]`;
const table = `\\{${itemsOf(`${string}\\s*:\\s*(?:${list}|${string})`)}\\}`;
/** A value in which every text is literal, or the name of a variable. */
const literal = new RegExp(
  `^['"]?\\s*\\]?\\s*[=:]\\s*(?:(${list}|${table})\\s*(?:[,)}]|$)|([A-Za-z_]\\w*)\\s*[,)])`,
  'm',
);

/**
 * Reads setup.py, a program: it reads literal lists of requirements and executes no code. If the file names
 * requirements in another form (a call, a variable that is set twice), it cannot be compared.
 */
export function readSetupPy(text: string, reading: ReadingBuilder): void {
  reading.note('it is a Python program; literal lists of requirements in it are read, nothing is executed');
  // Comments become spaces; strings stay.
  const code = text
    .replace(/\r\n?/g, '\n')
    .replace(/("""|''')(?:(?!\1)[^\\]|\\.)*\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*/gs, (part) =>
      part.startsWith('#') ? ' '.repeat(part.length) : part,
    );
  for (const [count, { 1: name = '', index }] of [...code.matchAll(field)].entries()) {
    if (count >= maxFields) return void reading.problem(`it names requirements more than ${maxFields} times`);
    const line = code.slice(0, index).split('\n').length;
    const [, value, variable] = literalAt(code, index + name.length);
    const written = variable === undefined ? value : literalAt(code, endOfOnly(code, variable))[1];
    // A key of a mapping is the name of an extra.
    const words = [...(written ?? '').matchAll(/(["'])((?:(?!\1).)*)\1(\s*:)?/g)].flatMap(
      ([, , word = '', colon]) => (colon === undefined ? [word] : []),
    );
    if (written === undefined || (name === 'dependency_links' && words.length > 0))
      reading.problem(`\`${name}\` in line ${line} is in a form that is not read`);
    else for (const word of words) declareSetup(word, name.replace('_', '-'), line, reading);
  }
}

function literalAt(code: string, from: number): readonly (string | undefined)[] {
  return literal.exec(code.slice(from, from + maxLiteral)) ?? [];
}

/** Where the only assignment of a variable goes on, which is not in a block; else the end of the code. */
function endOfOnly(code: string, variable: string): number {
  const [only, another] = code.matchAll(new RegExp(`(?<before>^|.)\\b${variable}\\b(?!\\s*[,)])`, 'gms'));
  const isAtStart = only?.groups?.before === '' || only?.groups?.before === '\n';
  return isAtStart && another === undefined ? only.index + only[0].length : code.length;
}
