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
      const requirement = typeof item === 'string' ? parseRequirement(item) : undefined;
      if (requirement === undefined) {
        reading.problem(`an entry of \`${field}\` cannot be understood`);
        continue;
      }
      const { source, origin } = placeOf(sources.get(requirement.name)) ?? requirement;
      reading.declare({
        ...requirement,
        scope,
        field,
        source,
        origin,
        version: source === 'registry' ? requirement.version : undefined,
        line: lines.next(String(item).slice(0, 200)),
        needNotBeLocked: needNotBeLocked || source === 'path',
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
  const lines = reading.lines();
  lines.next(`[${field}`);
  for (const [key, spec] of entriesOf(value)) {
    const name = pythonName(key);
    if (name === 'python' && !isPipfile) continue;
    const line = lines.next(`\n${key}`);
    for (const one of Array.isArray(spec) ? spec.slice(0, 50) : [spec]) {
      if (typeof one !== 'string' && !isTable(one)) {
        reading.problem(`a value of \`${field}\` cannot be understood`);
        continue;
      }
      const table = tableOf(one);
      const requirement = typeof one === 'string' ? one : textOf(table.version);
      const { source, origin } = placeOf(one) ?? { source: 'registry', origin: '' };
      reading.source(`source of ${name}`, table.source);
      reading.source(`index of ${name}`, table.index);
      reading.declare({
        key,
        name,
        requirement: isPipfile && requirement === '*' ? '' : requirement,
        scope: table.optional === true ? 'optional' : scope,
        field,
        source,
        origin,
        version: source === 'registry' ? exact.exec(requirement.trim())?.[1] : undefined,
        line: line === undefined ? undefined : line + 1,
        needNotBeLocked: source === 'path',
      });
    }
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

/**
 * Reads setup.py, a program: it reads literal lists of requirements and executes no code. If the file names
 * requirements in another form (a variable, a call), it cannot be compared.
 */
export function readSetupPy(text: string, reading: ReadingBuilder): void {
  reading.note('it is a Python program; literal lists of requirements in it are read, nothing is executed');
  const code = withoutComments(text);
  for (const [count, match] of [...code.matchAll(field)].entries()) {
    if (count >= maxFields) {
      reading.problem(`it names requirements more than ${maxFields} times`);
      return;
    }
    const name = match[1] ?? '';
    const line = code.slice(0, match.index).split('\n').length;
    const words = literalsAfter(code, startOfValue(code, match.index + name.length));
    if (words === undefined || name === 'dependency_links') {
      if (words?.length === 0) continue;
      reading.problem(`\`${name}\` in line ${line} is in a form that is not read`);
      continue;
    }
    for (const word of words) declareSetup(word, name.replace('_', '-'), line, reading);
  }
}

const maxLiteral = 65_536;
const maxFields = 50;

/**
 * Returns where the value of a keyword starts: after the keyword, or at the only assignment of the variable that it
 * names.
 */
function startOfValue(code: string, from: number): number {
  const variable = /^\s*=\s*([A-Za-z_]\w*)\s*[,)]/.exec(code.slice(from, from + 200))?.[1];
  if (variable === undefined) return from;
  const uses = [...code.matchAll(new RegExp(`\\b${variable}\\b(?!\\s*[,)])`, 'g'))];
  const [only] = uses;
  const isAtStart = only && (only.index === 0 || code[only.index - 1] === '\n');
  return uses.length === 1 && isAtStart ? only.index + variable.length : from;
}

/**
 * Returns the strings of the list, or of the lists in the mapping, after `=` or `:`; `undefined` for any other value.
 */
function literalsAfter(code: string, from: number): readonly string[] | undefined {
  const head = /^['"]?\s*\]?\s*[=:]\s*(?=[[{(])/.exec(code.slice(from, from + 200));
  if (!head) return undefined;
  const token = /\s*(?:([[\](){},:])|(['"])((?:(?!\2)[^\\\n])*)\2)/y;
  const end = from + maxLiteral;
  const open: string[] = [];
  const words: string[] = [];
  let last = '';
  token.lastIndex = from + head[0].length;
  do {
    const found = token.exec(code);
    if (!found || token.lastIndex > end) return undefined;
    const [, mark, quote, word = ''] = found;
    if (quote !== undefined) {
      if (last === 'word') return undefined;
      // A key of the mapping is the name of an extra.
      if (!/^\s*:/.test(code.slice(token.lastIndex, token.lastIndex + 20))) words.push(word);
      last = 'word';
      continue;
    }
    last = mark ?? '';
    if (mark !== undefined && '[{('.includes(mark)) open.push(mark);
    else if (mark !== undefined && ']})'.includes(mark)) open.pop();
  } while (open.length > 0);
  return /^\s*(?:[,)}\n]|$)/.test(code.slice(token.lastIndex, token.lastIndex + 200)) ? words : undefined;
}

/** Comments become spaces; strings stay. Linear. */
function withoutComments(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/("""|''')(?:(?!\1)[^\\]|\\.)*\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*/gs, (part) =>
      part.startsWith('#') ? ' '.repeat(part.length) : part,
    );
}
