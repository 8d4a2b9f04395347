/* Reads the repositories that a Gradle script declares. */
import type { ReadingBuilder } from '../reading.ts';
import { digestOf } from '../sources/package-source.ts';

const maxCalls = 500;
const maxDepth = 12;
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
export function readOtherRepositories(code: string, reading: ReadingBuilder): void {
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
export function readRepositoryBlock(
  code: string,
  block: string,
  line: number,
  reading: ReadingBuilder,
  depth: number,
): void {
  if (depth > maxDepth) return void reading.problem('repositories are nested too deep');
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
export function statementsOf(block: string): readonly Statement[] {
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
