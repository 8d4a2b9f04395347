import { posix } from 'node:path';
import { realPathIn } from '../../../workspace/command-acl/command-paths.ts';
import { isRecord } from './connection.ts';

/** Both from 0; a character is a UTF-16 unit. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** A place in a file of the workspace. */
export interface CodePlace {
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
export function shownPathOf(uri: unknown, { workspace, inside, shows }: Visible): string | undefined {
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

export function rangeOf(range: unknown): Pick<CodePlace, 'start' | 'end'> | undefined {
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
