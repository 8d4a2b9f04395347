import type { ReadingBuilder } from '../reading.ts';
import { digestOf } from '../sources/text-digest.ts';

const maxBlocks = 500;
const maxDepth = 12;
const maxSearched = 100_000;
const text = `(?:"""((?:(?!""")[^])*)"""|'''((?:(?!''')[^])*)'''|"((?:\\\\.|[^"\\\\\\n])*)"|'((?:\\\\.|[^'\\\\\\n])*)')`;
const literal = new RegExp(
  `^(?:=\\s*)?(?:\\(\\s*)?(?:(?:uri|URI|java\\.net\\.URI|URI\\.create|url\\s*=)\\s*\\(?\\s*)?${text}\\s*\\)*\\s*$`,
);
const named = /^(?:mavenCentral|google|gradlePluginPortal|jcenter|mavenLocal)\s*\(\s*\)$/;

/**
 * Repositories of a Gradle script whose comments are taken out: in every `repositories` block but those that say where
 * to publish, and scripts that are applied from an address. What is no literal counts by its text.
 */
export function readRepositories(code: string, reading: ReadingBuilder): void {
  let blocks = 0;
  for (const { from, to, line } of blocksNamed(code, 'repositories')) {
    blocks += 1;
    if (blocks > maxBlocks) {
      reading.problem(`it has more than ${maxBlocks} blocks of repositories`);
      return;
    }
    readBlock(code, code.slice(from, to), line, reading, 0);
  }
  let line = 1;
  let counted = 0;
  for (const match of code.matchAll(
    /(?<![\w.])([\w.]*)\b(repositories|getRepositories)\b(\s*\.\s*|\s*\(\s*\))([^\n{]*)(\{?)/g,
  )) {
    const [, before = '', name, , call = '', brace] = match;
    blocks += 1;
    if (blocks > maxBlocks) {
      reading.problem(`it has more than ${maxBlocks} blocks of repositories`);
      return;
    }
    line += code.slice(counted, match.index).split('\n').length - 1;
    counted = match.index;
    if (/publish/i.test(before) || (name === 'repositories' && brace === '{')) continue;
    if (name === 'repositories') readBlock(code, call, line, reading, 0);
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
function readBlock(code: string, block: string, line: number, reading: ReadingBuilder, depth: number): void {
  if (depth > maxDepth) {
    reading.problem('repositories are nested too deep');
    return;
  }
  for (const { head, body, at } of statementsOf(block)) {
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
    if (body !== '') readBlock(code, body, number, reading, depth + 1);
  }
}

/** Where a name gets its value, so that the text of a repository changes with it. */
function linesWith(code: string, word: string): string {
  if (code.length > maxSearched) return '';
  return [...code.matchAll(new RegExp(`^.*\\b${word}\\b["']?\\]?\\s*=.*$`, 'gm'))]
    .map(([line]) => line)
    .join('\n');
}

/**
 * Statements of a block: what stands before a brace, and what in it. A closing parenthesis or a line's end ends one.
 */
function statementsOf(
  block: string,
): readonly { readonly head: string; readonly body: string; readonly at: number }[] {
  const found: { head: string; body: string; at: number }[] = [];
  let head = '';
  let round = 0;
  let line = 0;
  let start = 0;
  const flush = (body: string): void => {
    if (head.trim() !== '' || body !== '')
      found.push({ head: head.trim().replace(/\s+/g, ' '), body, at: start });
    head = '';
  };
  for (let at = 0; at < block.length; ) {
    const letter = block[at] ?? '';
    // Asked of a short head only: it is asked for each letter.
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

/**
 * Blocks of a name, with the line of their brace; those within `publishing` or `uploadArchives` say where to publish.
 */
function blocksNamed(
  code: string,
  name: string,
): readonly { readonly from: number; readonly to: number; readonly line: number }[] {
  const found: { from: number; to: number; line: number }[] = [];
  const open: { readonly name: string; readonly from: number; readonly line: number }[] = [];
  let line = 1;
  let word = '';
  for (let at = 0; at < code.length; ) {
    const letter = code[at] ?? '';
    if (letter === '"' || letter === "'") {
      const end = endOfString(code, at);
      line += code.slice(at, end).split('\n').length - 1;
      at = end;
      word = '';
      continue;
    }
    if (/[\w.]/.test(letter)) {
      const end = at + (/^[\w.]+/.exec(code.slice(at, at + 200))?.[0].length ?? 1);
      word = code.slice(at, end);
      at = end;
      continue;
    }
    if (letter === '{') {
      // `repositories.maven { … }` is one of them.
      const isMember = word.split('.').slice(0, -1).includes(name);
      open.push({ name: isMember ? name : (word.split('.').at(-1) ?? ''), from: at + 1, line });
      word = '';
    } else if (letter === '}') {
      const closed = open.pop();
      const isForUse =
        closed?.name === name &&
        found.length <= maxBlocks &&
        !open.some(
          (outer) => /^(?:publishing|uploadArchives|publish)$/.test(outer.name) || outer.name === name,
        );
      if (isForUse) found.push({ from: closed.from, to: at, line: closed.line });
      word = '';
    } else if (!/[\s()]/.test(letter)) word = '';
    if (letter === '\n') line += 1;
    at += 1;
  }
  // A block that nothing closes is read to the end, with those inside it.
  const unclosed = open.find((block) => block.name === name);
  if (unclosed) found.push({ from: unclosed.from, to: code.length, line: unclosed.line });
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
