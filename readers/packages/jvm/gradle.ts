/* Reads the files of Gradle. */
import { entriesOf, numberedLines, type Table, tableOf, textOf } from '../content.ts';
import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { digestOf } from '../sources/package-source.ts';

const maxDepth = 40;
const maxSearched = 100_000;
const quoted =
  /"""(?<a>(?:(?!""").)*)(?:"""|$)|'''(?<b>(?:(?!''').)*)(?:'''|$)|"(?<c>(?:[^"\\\n]+|\\.)*)(?:"|(?=\n)|$)|'(?<d>(?:[^'\\\n]+|\\.)*)(?:'|(?=\n)|$)/
    .source;
/** After a backslash `/` is the inside of a slashy string. */
const comment = new RegExp(`${quoted}|(?<!\\\\)/(?:/[^\\n]*|\\*.*?(?:\\*/|$))`, 'gs');
const token = new RegExp(`${quoted}|[{}()\\n;]|[^"'{}()\\n;]+`, 'gs');
const literal = new RegExp(
  `^(?:=\\s*)?(?:\\(\\s*)?(?:(?:uri|URI|java\\.net\\.URI|URI\\.create|url\\s*=)\\s*\\(?\\s*)?(?:${quoted})\\s*\\)*\\s*$`,
  's',
);

/** The text before a brace or the end of a line, and the statements in the braces. */
interface Statement {
  readonly head: string;
  readonly line: number;
  readonly body: Statement[] | undefined;
}

/**
 * build.gradle and build.gradle.kts are programs: literal coordinates in `dependencies` blocks and in `plugins` are
 * read, catalogue accessors and projects are passed over, and another call in a `dependencies` block is a problem.
 */
export function readGradleBuild(text: string, reading: ReadingBuilder): void {
  reading.note(
    'it is a program; literal coordinates in its `dependencies` and `plugins` blocks are read, nothing is executed',
  );
  const code = text
    .replace(/\r\n?/g, '\n')
    .replace(comment, (part) => (part.startsWith('/') ? part.replace(/[^\n]+/g, ' ') : part));
  const statements = statementsOf(code);
  if (statements === undefined) return void reading.problem(`it is nested deeper than ${maxDepth}`);
  const walk = (block: readonly Statement[], calls?: string): void => {
    for (const statement of block) {
      const { head, body = [], line } = statement;
      if (calls === 'plugins') readPlugin(head, line, reading);
      else if (calls === 'dependencies') readCall(head, line, reading);
      readApplied(head, line, reading);
      const names = /[\w.]+$/.exec(head.replace(/[\s()]+$/, ''))?.[0].split('.') ?? [];
      if (names.some((name) => /^(?:publish\w*|uploadArchives)$/.test(name))) continue;
      const call = /\b(?:repositories|getRepositories\s*\(\s*\))\s*\.\s*(.+)$/s.exec(head)?.[1];
      if (call !== undefined) readRepositories(code, [{ ...statement, head: call }], reading);
      else if (names.includes('repositories') || names.includes('getRepositories'))
        readRepositories(code, body, reading);
      else walk(body, /(?:^|\s)(dependencies|plugins)$/.exec(head)?.[1] ?? calls);
    }
  };
  walk(statements);
}

/** `undefined` where braces are nested deeper than `maxDepth`. A brace that is not closed ends with the text. */
function statementsOf(code: string): readonly Statement[] | undefined {
  const all: Statement[] = [];
  const outer: Statement[][] = [];
  let [block, head, round, line, start] = [all, '', 0, 1, 1];
  const flush = (body?: Statement[]): void => {
    if (body || head.trim() !== '') block.push({ head: head.trim().replace(/\s+/g, ' '), line: start, body });
    head = '';
  };
  for (const { 0: part, index } of code.matchAll(token)) {
    if (head === '' && part.trim() !== '') start = line;
    const next = part === '\n' ? /^\s*(\S)/.exec(code.slice(index, index + 200))?.[1] : undefined;
    const goesOn = round > 0 || /^[{.=]$/.test(next ?? '') || /[=(,:]\s*$/.test(head.slice(-200));
    if (part === '{') {
      const body: Statement[] = [];
      flush(body);
      if (outer.push(block) > maxDepth) return undefined;
      block = body;
    } else if (part === '}') {
      flush();
      block = outer.pop() ?? block;
    } else if (part === '\n' ? !goesOn : part === ';' && round === 0) flush();
    else if (part !== '\n') head += part;
    else if (head !== '') head += ' ';
    round = /[{}]/.test(part[0] ?? '') ? 0 : Math.max(0, round + Number(part === '(') - Number(part === ')'));
    line += part.split('\n').length - 1;
  }
  flush();
  return all;
}

/** A script that is applied from a URL, or from a place that is worked out. */
function readApplied(head: string, line: number, reading: ReadingBuilder): void {
  const from = /\bapply\s*\(?\s*from\s*[:=]\s*(.*)$/.exec(head)?.[1];
  if (from === undefined) return;
  const place = textIn(new RegExp(quoted, 's').exec(from));
  if (place === undefined) reading.source('apply from', `text ${digestOf(from)}`, { line });
  else if (/^[a-z]+:/i.test(place)) reading.source('apply from', place, { line });
}

function textIn(found: RegExpExecArray | null): string | undefined {
  return Object.values(found?.groups ?? {}).find((part) => part !== undefined);
}

/** Calls of one block; those that hold others (`maven { … }`, `exclusiveContent { … }`) are entered. */
function readRepositories(code: string, block: readonly Statement[], reading: ReadingBuilder): void {
  for (const { head, body, line } of block) {
    const [, name = '', rest = ''] = /^(?:[\w.]*\.)?(\w+)\s*(.*)$/s.exec(head) ?? [];
    if (/^(?:credentials|authentication|\w*[cC]ontent|metadataSources|\w*[lL]ayout|filter)$/.test(name)) {
      if (name !== 'exclusiveContent') continue;
    }
    if (/^(?:name|setName|include\w*|exclude\w*)$/.test(name) && !body) continue;
    const place = textIn(literal.exec(rest));
    if (/AllowInsecureProtocol$/i.test(name)) {
      if (!/\bfalse\b/.test(rest)) reading.source('allowInsecureProtocol', 'true', { line, counts: 'added' });
    } else if (place !== undefined && !place.includes('$')) reading.source('repositories', place, { line });
    else if (rest !== '' && !/^\(?\s*\)?$/.test(rest)) {
      // Where a name gets its value: the text of the repository changes with it.
      const words = (code.length > maxSearched ? [] : (rest.match(/[A-Za-z_]\w*/g) ?? [])).slice(0, 20);
      const set = words.map((word) => code.match(new RegExp(`^.*\\b${word}\\b["']?\\]?\\s*=.*$`, 'gm')));
      reading.source('repositories', `text ${digestOf([head, ...set.flat()].join('\n'))}`, { line });
    } else if (!body && name !== '') reading.source('repositories', `${name}()`, { line });
    readRepositories(code, body ?? [], reading);
  }
}

const coordinates = /^([\w.-]+):([\w.-]+)(?::([^:@]*))?(?::[\w.-]*)?(?:@\w+)?$/;
const configuration = /^([a-z]\w*)\s*[( ]\s*(.+?)\s*\)?\s*(?:\{.*)?$/;
const notConfigurations = new Set(
  (
    'project files fileTree constraints exclude because version strictly prefer require reject modules components ' +
    'attributes capabilities if else val def transitive changing dependencies plugins'
  ).split(' '),
);

function readPlugin(head: string, line: number, reading: ReadingBuilder): void {
  const [, call, , name = '', , version = ''] =
    /^(id|kotlin)\s*\(?\s*(['"])([\w.-]+)\2\s*\)?(?:\s*version\s*\(?\s*(['"])([^'"]+)\4)?/.exec(head) ?? [];
  const id = call === 'kotlin' ? `org.jetbrains.kotlin.${name}` : name;
  if (id.includes('.') || version !== '') declare(reading, pluginName(id), version, 'plugins', line);
}

/** The artifact by which a plugin is found. */
function pluginName(id: string): string {
  return `${id}:${id}.gradle.plugin`;
}

function readCall(head: string, line: number, reading: ReadingBuilder): void {
  if (/^[()\])]*$/.test(head)) return;
  const [, name = '', rest = ''] = configuration.exec(head) ?? [];
  const part = (key: string): string =>
    new RegExp(`\\b${key}\\s*[:=]\\s*(['"])([^'"$]*)\\1`).exec(head)?.[2] ?? '';
  const kotlin = /\bkotlin\s*\(\s*"([\w-]+)"(?:\s*,\s*"([^"]+)")?/.exec(rest);
  const named = kotlin
    ? [`org.jetbrains.kotlin:kotlin-${kotlin[1]}:${kotlin[2] ?? ''}`]
    : part('group') && part('name')
      ? [`${part('group')}:${part('name')}:${part('version')}`]
      : [...head.matchAll(/(["'])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , text = '']) => text);
  const found = named.map((text) => coordinates.exec(text)).filter((match) => match !== null);
  for (const [, group, artifact, version = ''] of found)
    declare(reading, `${group}:${artifact}`, version, name || 'dependencies', line);
  if (found.length > 0 || name === '' || notConfigurations.has(name)) return;
  if (
    !/\b(?:project|files|fileTree|gradleApi|localGroovy|gradleTestKit)\s*\(|\bprojects\.|\blibs\./.test(rest)
  )
    reading.problem(`line ${line} names a dependency in a form that is not read`);
}

/** `field`: the configuration, or the table of a catalogue. */
function declare(reading: ReadingBuilder, name: string, version: string, field: string, line: number): void {
  const isOfBuild = /test|^(?:annotationProcessor|kapt|ksp|classpath|lint\w*|plugins)/i.test(field);
  reading.declare({
    key: name,
    name,
    requirement: version,
    scope: isOfBuild ? 'development' : 'runtime',
    field,
    source: 'registry',
    line,
    needNotBeLocked: true,
    version: version === '' || /[[(,$+]|^latest\./.test(version) ? undefined : version,
  });
}

export function readGradleLockfile(text: string, reading: ReadingBuilder): void {
  const builder = new LockBuilder(reading);
  for (const [number, raw] of numberedLines(text)) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith('empty=')) continue;
    const [, name, version, uses = ''] = /^([\w.-]+:[\w.-]+):([^:=\s]+)=(.*)$/.exec(line) ?? [];
    if (name === undefined || version === undefined) {
      reading.problem(`line ${number} cannot be understood`);
      continue;
    }
    const isOfBuild = (use: string): boolean => /^test|Test|^classpath$|annotationProcessor/i.test(use);
    const scope: LockedPackage['scope'] = uses.split(',').every(isOfBuild) ? 'development' : 'runtime';
    builder.add(`${name} ${version}`, { name, version, source: 'registry', scope, line: number, asks: [] });
  }
  builder.finish();
}

export function readVersionCatalog(root: Table, reading: ReadingBuilder): void {
  for (const field of ['libraries', 'plugins'] as const) {
    const lines = reading.lines();
    lines.next(`[${field}]`);
    for (const [key, value] of entriesOf(root[field])) {
      const { id, module, group, name, version } = tableOf(value);
      const [first = '', second = '', third = ''] = typeof value === 'string' ? value.split(':') : [];
      const [written, pinned] = field === 'plugins' ? [first, second] : [`${first}:${second}`, third];
      const library = textOf(module) || `${textOf(group)}:${textOf(name)}`;
      const stated = typeof value === 'string' ? written : field === 'plugins' ? textOf(id) : library;
      const line = (lines.next(`\n${key}`) ?? 0) + 1;
      if (stated === '' || /^:|:$/.test(stated))
        reading.problem(`an entry of \`${field}\` cannot be understood`);
      else
        declare(
          reading,
          field === 'plugins' ? pluginName(stated) : stated,
          pinned || versionOf(version, tableOf(root.versions)),
          field,
          line,
        );
    }
  }
}

function versionOf(value: unknown, versions: Table): string {
  if (typeof value === 'string') return textOf(value);
  const { ref, strictly, require, prefer } = tableOf(value);
  return textOf(ref) === ''
    ? textOf(strictly) || textOf(require) || textOf(prefer)
    : versionOf(versions[textOf(ref)], {});
}
