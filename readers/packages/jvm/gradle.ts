/* Reads the files of Gradle. */
import { entriesOf, isTable, numberedLines, type Table, tableOf, textOf } from '../content.ts';
import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { digestOf } from '../sources/package-source.ts';

const maxCalls = 500;
const maxRepositoryDepth = 12;
const maxSearched = 100_000;
const text = `(?:"""((?:(?!""")[^])*)"""|'''((?:(?!''')[^])*)'''|"((?:\\\\.|[^"\\\\\\n])*)"|'((?:\\\\.|[^'\\\\\\n])*)')`;
const literal = new RegExp(
  `^(?:=\\s*)?(?:\\(\\s*)?(?:(?:uri|URI|java\\.net\\.URI|URI\\.create|url\\s*=)\\s*\\(?\\s*)?${text}\\s*\\)*\\s*$`,
);
const named = /^(?:mavenCentral|google|gradlePluginPortal|jcenter|mavenLocal)\s*\(\s*\)$/;

/**
 * Reads repositories that a Gradle script declares outside a block, and scripts applied from a URL. The script has no
 * comments. A non-literal value is compared by its text.
 */
function readOtherRepositories(code: string, reading: ReadingBuilder): void {
  let calls = 0;
  let line = 1;
  let counted = 0;
  for (const match of code.matchAll(
    /(?<![\w.])([\w.]*)\b(repositories|getRepositories)\b(\s*\.\s*|\s*\(\s*\))([^\n{]*)(\{?)/g,
  )) {
    const [, before = '', name, , call = '', brace] = match;
    calls += 1;
    if (calls > maxCalls) return void reading.problem(`it has more than ${maxCalls} calls of repositories`);
    line += code.slice(counted, match.index).split('\n').length - 1;
    counted = match.index;
    if (/publish/i.test(before) || (name === 'repositories' && brace === '{')) continue;
    if (name === 'repositories') readRepositoryBlock(code, call, line, reading, 0);
    else
      reading.source(
        'repositories',
        `text ${digestOf(code.slice(match.index, match.index + 500).split('}')[0] ?? '')}`,
        { line },
      );
  }
  for (const match of code.matchAll(/\bapply\s*[({]?\s*from\s*[:=]\s*([^\n;)]*)/g)) {
    const place = new RegExp(text).exec(match[1] ?? '');
    const url = place?.slice(1).find((part) => part !== undefined) ?? '';
    if (/^[a-z]+:/i.test(url)) reading.source('apply from', url);
    else if (place === null) reading.source('apply from', `text ${digestOf(match[1] ?? '')}`);
  }
}

/** Calls of one block; those that hold others (`maven { … }`, `exclusiveContent { … }`) are entered. */
function readRepositoryBlock(
  code: string,
  block: string,
  line: number,
  reading: ReadingBuilder,
  depth: number,
): void {
  if (depth > maxRepositoryDepth) return void reading.problem('repositories are nested too deep');
  for (const { head, body, at, bodyAt } of statementsOf(block)) {
    const number = line + at;
    const name = /^(?:[\w.]*\.)?(\w+)/.exec(head)?.[1] ?? '';
    const rest = head.replace(/^(?:[\w.]*\.)?\w+\s*/, '');
    if (
      /^(?:credentials|authentication|content|mavenContent|metadataSources|patternLayout|layout|filter)$/.test(
        name,
      )
    )
      continue;
    if (/^(?:name|setName|include\w*|exclude\w*)$/.test(name) && body === '') continue;
    const place = literal
      .exec(rest)
      ?.slice(1)
      .find((part) => part !== undefined);
    if (named.test(head)) reading.source('repositories', `${name}()`, { line: number });
    else if (/^(?:isAllowInsecureProtocol|allowInsecureProtocol|setAllowInsecureProtocol)$/.test(name)) {
      if (!/\bfalse\b/.test(rest))
        reading.source('allowInsecureProtocol', 'true', { line: number, counts: 'added' });
    } else if (place !== undefined && !place.includes('$'))
      reading.source('repositories', place, { line: number });
    else if (place !== undefined || (rest !== '' && !/^\(?\s*\)?$/.test(rest))) {
      const used = (rest.match(/[A-Za-z_]\w*/g) ?? []).slice(0, 20);
      const said = used.map((word) => linesWith(code, word)).join('\n');
      reading.source('repositories', `text ${digestOf(`${head}\n${said}`)}`, { line: number });
    } else if (body === '' && name !== '') reading.source('repositories', `${name}()`, { line: number });
    if (body !== '') readRepositoryBlock(code, body, line + bodyAt, reading, depth + 1);
  }
}

/** Where a name gets its value, so that the text of a repository changes with it. */
function linesWith(code: string, word: string): string {
  if (code.length > maxSearched) return '';
  return [...code.matchAll(new RegExp(`^.*\\b${word}\\b["']?\\]?\\s*=.*$`, 'gm'))]
    .map(([line]) => line)
    .join('\n');
}

/** `at` and `bodyAt` count lines from that of the block. */
interface Statement {
  readonly head: string;
  readonly body: string;
  readonly at: number;
  readonly bodyAt: number;
}

/**
 * Splits a block into statements: the text before a brace, and the text inside it. A closing parenthesis or a line
 * end ends a statement.
 */
function statementsOf(block: string): readonly Statement[] {
  const found: Statement[] = [];
  let head = '';
  let round = 0;
  let line = 0;
  let start = 0;
  const flush = (body: string): void => {
    if (head.trim() !== '' || body !== '')
      found.push({ head: head.trim().replace(/\s+/g, ' '), body, at: start, bodyAt: line });
    head = '';
  };
  for (let at = 0; at < block.length; ) {
    const letter = block[at] ?? '';
    // The length limit keeps this check cheap, because it runs for every character.
    if (head.length < 100 && head.trim() === '') start = line;
    if (letter === '"' || letter === "'") {
      const end = endOfString(block, at);
      head += block.slice(at, end);
      line += block.slice(at, end).split('\n').length - 1;
      at = end;
      continue;
    }
    if (letter === '{') {
      const end = endOfBlock(block, at);
      flush(block.slice(at + 1, end - 1) || ' ');
      line += block.slice(at, end).split('\n').length - 1;
      at = end;
      round = 0;
      continue;
    }
    if (letter === '(') round += 1;
    if (letter === ')') round = Math.max(round - 1, 0);
    const next = letter === '\n' ? /^\s*(\S)/.exec(block.slice(at, at + 200))?.[1] : undefined;
    const goesOn =
      round > 0 || (letter === '\n' && (/^[{.=]$/.test(next ?? '') || /[=(,:]\s*$/.test(head.slice(-200))));
    if ((letter === '\n' && !goesOn) || (letter === ';' && round === 0)) flush('');
    else head += letter === '\n' ? ' ' : letter;
    if (letter === '\n') line += 1;
    at += 1;
  }
  flush('');
  return found;
}

function endOfString(code: string, from: number): number {
  const quote = code[from] ?? '';
  const triple = quote.repeat(3);
  if (code.startsWith(triple, from)) {
    const end = code.indexOf(triple, from + 3);
    return end === -1 ? code.length : end + 3;
  }
  let at = from + 1;
  while (at < code.length && code[at] !== quote && code[at] !== '\n') at += code[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, code.length);
}

function endOfBlock(code: string, from: number): number {
  let depth = 0;
  for (let at = from; at < code.length; ) {
    const letter = code[at] ?? '';
    if (letter === '"' || letter === "'") {
      at = endOfString(code, at);
      continue;
    }
    depth += letter === '{' ? 1 : letter === '}' ? -1 : 0;
    at += 1;
    if (depth === 0) return at;
  }
  return code.length + 1;
}

const coordinates = /^([\w.-]+):([\w.-]+)(?::([^:@]*))?(?::[\w.-]*)?(?:@\w+)?$/;
const configuration = /^([a-z]\w*)\s*[( ]\s*(.+?)\s*\)?\s*(?:\{.*)?$/;
const notConfigurations = new Set(
  (
    'project files fileTree constraints exclude because version strictly prefer require reject modules components ' +
    'attributes capabilities if else val def transitive changing dependencies plugins'
  ).split(' '),
);

/**
 * build.gradle and build.gradle.kts are programs: literal coordinates in `dependencies` blocks and in `plugins` are
 * read, catalogue accessors and projects are passed over, and another call in a `dependencies` block is a problem.
 */
export function readGradleBuild(text: string, reading: ReadingBuilder): void {
  reading.note(
    'it is a program; literal coordinates in its `dependencies` and `plugins` blocks are read, nothing is executed',
  );
  const code = withoutComments(text.replace(/\r\n?/g, '\n'));
  const walk = (block: string, line: number, around: Around, depth: number): void => {
    if (depth > maxDepth) return void reading.problem(`it is nested deeper than ${maxDepth}`);
    for (const { head, body, at, bodyAt } of statementsOf(block)) {
      if (around.calls) readCall(head, around.calls, line + at, reading);
      if (body === '') continue;
      const names = /[\w.]+$/.exec(head.replace(/[\s()]+$/, ''))?.[0].split('.') ?? [];
      const calls = /(?:^|\s)(dependencies|plugins)$/.exec(head)?.[1] as Around['calls'];
      const isRepositories = !around.hidesRepositories && names.includes('repositories');
      if (isRepositories) readRepositoryBlock(code, body, line + bodyAt, reading, 0);
      const hides = isRepositories || /^(?:publishing|uploadArchives|publish)$/.test(names.at(-1) ?? '');
      const inner = {
        calls: calls ?? around.calls,
        hidesRepositories: around.hidesRepositories || hides,
      };
      walk(body, line + bodyAt, inner, depth + 1);
    }
  };
  walk(code, 1, { calls: undefined, hidesRepositories: false }, 0);
  readOtherRepositories(code, reading);
}

const maxDepth = 40;

/** What the blocks around a statement make of it. */
interface Around {
  readonly calls: 'dependencies' | 'plugins' | undefined;
  /** Repositories here are already read, or are publishing targets. */
  readonly hidesRepositories: boolean;
}

function readCall(
  line: string,
  block: 'dependencies' | 'plugins',
  number: number,
  reading: ReadingBuilder,
): void {
  if (line === '' || /^[{}()\])]+$/.test(line)) return;
  if (block === 'plugins') {
    const plugin =
      /^(id|kotlin)\s*\(?\s*(['"])([\w.-]+)\2\s*\)?(?:\s*version\s*\(?\s*(['"])([^'"]+)\4)?/.exec(line);
    if (!plugin?.[3]) return;
    const id = plugin[1] === 'kotlin' ? `org.jetbrains.kotlin.${plugin[3]}` : plugin[3];
    if (!id.includes('.') && plugin[5] === undefined) return;
    declare(reading, `${id}:${id}.gradle.plugin`, plugin[5] ?? '', 'development', 'plugins', number);
    return;
  }
  const strings = [...line.matchAll(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'/g)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
  const [, name = '', rest = ''] = configuration.exec(line) ?? [];
  const scope = scopeOf(name);
  const group = /\bgroup\s*[:=]\s*(['"])([^'"$]+)\1/.exec(line)?.[2];
  const artifact = /\bname\s*[:=]\s*(['"])([^'"$]+)\1/.exec(line)?.[2];
  if (group !== undefined && artifact !== undefined) {
    const version = /\bversion\s*[:=]\s*(['"])([^'"]*)\1/.exec(line)?.[2] ?? '';
    declare(reading, `${group}:${artifact}`, version, scope, name, number);
    return;
  }
  const found = strings.map((text) => coordinates.exec(text)).filter((match) => match !== null);
  for (const match of found)
    declare(reading, `${match[1]}:${match[2]}`, match[3] ?? '', scope, name || 'dependencies', number);
  if (found.length > 0 || name === '' || notConfigurations.has(name)) return;
  if (
    /\b(?:project|files|fileTree|gradleApi|localGroovy|gradleTestKit)\s*\(|\bprojects\.|\blibs\./.test(rest)
  )
    return;
  const kotlin = /\bkotlin\s*\(\s*"([\w-]+)"(?:\s*,\s*"([^"]+)")?/.exec(rest);
  if (kotlin) {
    declare(reading, `org.jetbrains.kotlin:kotlin-${kotlin[1]}`, kotlin[2] ?? '', scope, name, number);
    return;
  }
  reading.problem(`line ${number} names a dependency in a form that is not read`);
}

function scopeOf(name: string): LockedPackage['scope'] {
  if (/test/i.test(name)) return 'development';
  return /^(?:annotationProcessor|kapt|ksp|classpath|lint\w*)/.test(name) ? 'development' : 'runtime';
}

function declare(
  reading: ReadingBuilder,
  name: string,
  version: string,
  scope: LockedPackage['scope'],
  field: string,
  line: number,
): void {
  reading.declare({
    key: name,
    name,
    requirement: version,
    scope,
    field,
    source: 'registry',
    line,
    needNotBeLocked: true,
    version: version === '' || /[[(,$+]|^latest\./.test(version) ? undefined : version,
  });
}

/** Comments become spaces; strings stay. After a backslash `/` is the inside of a slashy string. Linear. */
function withoutComments(text: string): string {
  const token =
    /""".*?(?:"""|$)|'''.*?(?:'''|$)|"(?:[^"\\\n]+|\\.)*(?:"|(?=\n)|$)|'(?:[^'\\\n]+|\\.)*(?:'|(?=\n)|$)|(?<!\\)\/(?:\/[^\n]*|\*.*?(?:\*\/|$))/gs;
  return text.replace(token, (part) => (part.startsWith('/') ? part.replace(/[^\n]+/g, ' ') : part));
}

/** gradle.lockfile: `group:artifact:version=configurations`. */
export function readGradleLockfile(text: string, reading: ReadingBuilder): void {
  const builder = new LockBuilder(reading);
  for (const [number, raw] of numberedLines(text)) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const entry = /^([\w.-]+:[\w.-]+):([^:=\s]+)=(.*)$/.exec(line);
    if (entry?.[1] && entry[2]) {
      const uses = (entry[3] ?? '').split(',');
      builder.add(`${entry[1]} ${entry[2]}`, {
        name: entry[1],
        version: entry[2],
        source: 'registry',
        scope: uses.every((use) => /^test|Test|^classpath$|annotationProcessor/i.test(use))
          ? 'development'
          : 'runtime',
        line: number,
        asks: [],
      });
    } else if (!line.startsWith('empty=')) reading.problem(`line ${number} cannot be understood`);
  }
  builder.finish();
}

/** libs.versions.toml: libraries and plugins of a version catalogue. */
export function readVersionCatalog(root: Table, reading: ReadingBuilder): void {
  const versions = tableOf(root.versions);
  for (const field of ['libraries', 'plugins'] as const) {
    const lines = reading.lines();
    lines.next(`[${field}]`);
    for (const [key, value] of entriesOf(root[field])) {
      const entry = catalogEntry(field, value, versions);
      const line = lines.next(`\n${key}`);
      if (entry === undefined) reading.problem(`an entry of \`${field}\` cannot be understood`);
      else
        declare(
          reading,
          entry.name,
          entry.version,
          field === 'plugins' ? 'development' : 'runtime',
          field,
          (line ?? 0) + 1,
        );
    }
  }
}

function catalogEntry(
  field: 'libraries' | 'plugins',
  value: unknown,
  versions: Table,
): { readonly name: string; readonly version: string } | undefined {
  const isPlugin = field === 'plugins';
  if (typeof value === 'string') {
    const parts = value.split(':');
    if (isPlugin)
      return parts.length === 2
        ? { name: `${parts[0]}:${parts[0]}.gradle.plugin`, version: parts[1] ?? '' }
        : undefined;
    return parts.length >= 2 ? { name: `${parts[0]}:${parts[1]}`, version: parts[2] ?? '' } : undefined;
  }
  if (!isTable(value)) return undefined;
  const id = textOf(value.id);
  const module = textOf(value.module);
  const name = isPlugin
    ? `${id}:${id}.gradle.plugin`
    : module || `${textOf(value.group)}:${textOf(value.name)}`;
  if (/^:|:$/.test(name) || name === ':' || (isPlugin && id === '')) return undefined;
  return { name, version: versionOf(value.version, versions) };
}

function versionOf(value: unknown, versions: Table): string {
  if (typeof value === 'string') return textOf(value);
  const table = tableOf(value);
  const ref = textOf(table.ref);
  if (ref !== '')
    return typeof versions[ref] === 'string' ? textOf(versions[ref]) : versionOf(versions[ref], {});
  return textOf(table.strictly) || textOf(table.require) || textOf(table.prefer);
}
