/* Converts answers of language servers to text for a model. */
import { posix } from 'node:path';
import { isRecord } from '../../core/base/json-pointer.ts';
import { quoted } from '../../core/base/printable.ts';
import { realPathIn } from '../../workspace/command-acl/command-paths.ts';

/** Answers of servers as a model reads them: what does not have the form of the protocol is passed over. */

const maxPlaces = 200;
const maxLooked = 20_000;
const maxSymbols = 500;
const maxLine = 200;
const maxHover = 16 * 1024;

/** The lines of a file of the workspace, where it can be read. */
export type LinesOf = (path: string) => Promise<readonly string[] | undefined>;

/** One line of what somebody else wrote. */
export function plain(value: unknown, most = maxLine): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, 4 * most)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, most)
    .toWellFormed();
}

/** Text of several lines, likewise. */
function block(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, maxHover)
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .trim()
    .toWellFormed();
}

export function hoverText(answer: unknown): string {
  const contents = isRecord(answer) ? answer.contents : undefined;
  const parts = (Array.isArray(contents) ? contents.slice(0, 20) : [contents]).map((part: unknown) =>
    block(isRecord(part) ? part.value : part),
  );
  const text = parts.filter((part) => part !== '').join('\n\n');
  return text === '' ? 'nothing is known of it' : text;
}

/** Locations and links to them, each with its line. */
export async function placesText(answer: unknown, visible: Visible, linesOf: LinesOf): Promise<string> {
  const all: readonly unknown[] = Array.isArray(answer) ? answer : answer === null ? [] : [answer];
  const found = all.slice(0, maxLooked).map((one) => placeOf(one, visible));
  const shown = distinct(found.filter((one) => one !== undefined));
  const lines: string[] = [];
  for (const place of shown.slice(0, maxPlaces)) lines.push(await placeLine(place, linesOf));
  return told(lines, shown.length, found.filter((one) => one === undefined).length, 'nothing found');
}

function placeOf(one: unknown, visible: Visible): CodePlace | undefined {
  if (!isRecord(one)) return undefined;
  const path = shownPathOf(one.uri ?? one.targetUri, visible);
  const range = rangeOf(one.range ?? one.targetSelectionRange ?? one.targetRange);
  return path === undefined || range === undefined ? undefined : { path, ...range };
}

function distinct(places: readonly CodePlace[]): readonly CodePlace[] {
  const known = new Map(
    places.map((place) => [`${place.path}:${place.start.line}:${place.start.character}`, place]),
  );
  return [...known.values()].sort(inOrder);
}

function inOrder(a: CodePlace, b: CodePlace): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.start.line - b.start.line || a.start.character - b.start.character;
}

async function placeLine({ path, start }: CodePlace, linesOf: LinesOf): Promise<string> {
  const text = plain((await linesOf(path))?.[start.line]);
  return `${path}:${start.line + 1}:${start.character + 1}${text === '' ? '' : `: ${text}`}`;
}

function told(lines: readonly string[], all: number, unseen: number, none: string): string {
  const more = all > lines.length ? [`[${all - lines.length} more]`] : [];
  const away = unseen > 0 ? [`[${unseen} not to be shown: outside the workspace, or the rules hide it]`] : [];
  const text = [...lines, ...more, ...away].join('\n');
  return text === '' ? none : text;
}

const kinds =
  'file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null member struct event operator parameter'.split(
    ' ',
  );

function kindOf(kind: unknown): string {
  return (typeof kind === 'number' ? kinds[kind - 1] : undefined) ?? 'symbol';
}

/** The symbols of a file, as a tree or as a list. */
export function symbolsText(answer: unknown): string {
  const lines: string[] = [];
  let all = 0;
  const visit = (list: unknown, depth: number): void => {
    if (!Array.isArray(list) || depth > 20) return;
    for (const one of list) {
      if (!isRecord(one) || all >= maxLooked) continue;
      const range = rangeOf(
        one.selectionRange ?? one.range ?? (isRecord(one.location) ? one.location.range : undefined),
      );
      const name = plain(one.name);
      if (range === undefined || name === '') continue;
      all += 1;
      if (lines.length < maxSymbols)
        lines.push(`${range.start.line + 1}\t${'  '.repeat(depth)}${kindOf(one.kind)} ${name}`);
      visit(one.children, depth + 1);
    }
  };
  visit(answer, 0);
  return told(lines, all, 0, 'no symbols');
}

export function workspaceSymbolsText(answers: readonly unknown[], visible: Visible): string {
  const lines: string[] = [];
  let all = 0;
  let unseen = 0;
  for (const one of answers.flat().slice(0, maxLooked)) {
    if (!isRecord(one) || !isRecord(one.location)) continue;
    const path = shownPathOf(one.location.uri, visible);
    const name = plain(one.name);
    if (path === undefined || name === '') {
      unseen += 1;
      continue;
    }
    all += 1;
    const line = rangeOf(one.location.range);
    const where = line === undefined ? path : `${path}:${line.start.line + 1}`;
    const container = plain(one.containerName);
    const within = container === '' ? '' : ` (${container})`;
    if (lines.length < maxPlaces) lines.push(`${where}: ${kindOf(one.kind)} ${name}${within}`);
  }
  return told(lines, all, unseen, 'nothing found');
}

const severities = ['error', 'warning', 'information', 'hint'];

export function diagnosticsText(items: readonly unknown[]): string {
  const lines: string[] = [];
  let all = 0;
  for (const one of items.slice(0, maxLooked)) {
    const range = isRecord(one) ? rangeOf(one.range) : undefined;
    if (!isRecord(one) || range === undefined) continue;
    all += 1;
    const severity = severities[Number(one.severity ?? 1) - 1] ?? 'error';
    const code = ['string', 'number'].includes(typeof one.code) ? ` ${plain(String(one.code), 50)}` : '';
    if (lines.length < maxPlaces)
      lines.push(
        `${range.start.line + 1}:${range.start.character + 1}: ${severity}${code}: ${plain(one.message, 1000)}`,
      );
  }
  return told(lines, all, 0, 'no problems');
}

/** Describes the edits of a rename; no file is written. */
export async function renameText(answer: unknown, visible: Visible, linesOf: LinesOf): Promise<string> {
  const edits: (CodePlace & { readonly to: string })[] = [];
  let unseen = 0;
  for (const [uri, list] of editsIn(answer)) {
    const path = shownPathOf(uri, visible);
    for (const edit of list) {
      const range = isRecord(edit) ? rangeOf(edit.range) : undefined;
      if (path === undefined || range === undefined || !isRecord(edit) || edits.length >= maxLooked)
        unseen += 1;
      else edits.push({ path, ...range, to: plain(edit.newText) });
    }
  }
  const lines: string[] = [];
  for (const edit of edits.sort(inOrder).slice(0, maxPlaces))
    lines.push(`${await placeLine(edit, linesOf)}\n  becomes ${quoted(edit.to)}`);
  const text = told(lines, edits.length, unseen, 'nothing would change');
  return edits.length === 0 ? text : `${text}\n[nothing is changed: this is what a rename would change]`;
}

function* editsIn(answer: unknown): Generator<readonly [uri: unknown, edits: readonly unknown[]]> {
  if (!isRecord(answer)) return;
  const { changes, documentChanges } = answer;
  if (Array.isArray(documentChanges)) {
    for (const one of documentChanges.slice(0, maxLooked)) {
      if (!isRecord(one)) continue;
      const { textDocument, edits } = one;
      if (isRecord(textDocument) && Array.isArray(edits)) yield [textDocument.uri, edits.slice(0, maxLooked)];
      // Files that it would create, move or delete.
      else yield [undefined, [one]];
    }
  } else if (isRecord(changes))
    for (const [uri, edits] of Object.entries(changes))
      if (Array.isArray(edits)) yield [uri, edits.slice(0, maxLooked)];
}

/** Both from 0; a character is a UTF-16 unit. */
interface Position {
  readonly line: number;
  readonly character: number;
}

/** A place in a file of the workspace. */
interface CodePlace {
  readonly path: string;
  readonly start: Position;
  readonly end: Position;
}

/** What an answer may name. */
export interface Visible {
  /** Of this machine. */
  readonly workspace: string;
  /** Where the server has it. */
  readonly inside: string;
  /** By real paths. */
  readonly shows: (path: string) => boolean;
}

const largest = 2 ** 31 - 1;

/** The address of a file as a server has it. */
export function uriOf(inside: string, path: string): string {
  return `file://${posix.join(inside, path).split('/').map(encodeURIComponent).join('/')}`;
}

/** Converts a server's URI to a path, if it is in the workspace and may be shown. */
function shownPathOf(uri: unknown, { workspace, inside, shows }: Visible): string | undefined {
  if (typeof uri !== 'string' || uri.length > 8192) return undefined;
  const found = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i.exec(uri)?.[1];
  if (found === undefined) return undefined;
  let plain: string;
  try {
    plain = decodeURIComponent(found);
  } catch {
    return undefined;
  }
  if (/\p{Cc}/u.test(plain)) return undefined;
  const path = posix.relative(inside, posix.normalize(plain));
  const real = realPathIn(workspace, path);
  if (real === undefined || real === '.') return undefined;
  const isOwn = (one: string): boolean => one === '.git' || one.startsWith('.git/');
  return isOwn(path) || isOwn(real) || !shows(path) || !shows(real) ? undefined : path;
}

function rangeOf(range: unknown): Pick<CodePlace, 'start' | 'end'> | undefined {
  if (!isRecord(range)) return undefined;
  const [start, end] = [positionOf(range.start), positionOf(range.end)];
  return start && end ? { start, end } : undefined;
}

function positionOf(position: unknown): Position | undefined {
  if (!isRecord(position)) return undefined;
  const { line, character } = position;
  return isCount(line) && isCount(character) ? { line, character } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= largest;
}

/** Returns the position of a name in a text, or a hint for the model. */
export function placeOfName(
  text: string,
  symbol: string,
  line: number | undefined,
): { readonly at: Position } | { readonly wrong: string } {
  const lines = text.split('\n');
  const name = new RegExp(`(?<![\\p{L}\\p{N}_$])${escaped(symbol)}(?![\\p{L}\\p{N}_$])`, 'u');
  const find = (index: number): Position | undefined => {
    const at = lines[index]?.search(name) ?? -1;
    return at === -1 ? undefined : { line: index, character: at };
  };
  if (line !== undefined) {
    // Lines are counted almost as badly as columns.
    for (const near of [0, -1, 1, -2, 2]) {
      const at = find(line - 1 + near);
      if (at) return { at };
    }
    const found = lines.findIndex((_, index) => find(index) !== undefined);
    const there = found === -1 ? 'nor anywhere in the file' : `line ${found + 1} has it first`;
    return { wrong: `\`${symbol}\` is not on line ${line}; ${there}` };
  }
  for (const index of lines.keys()) {
    const at = find(index);
    if (at) return { at };
  }
  return { wrong: `\`${symbol}\` is not in the file` };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
