import type { Field, Structure } from './structure.ts';

/** A document with its escapes resolved, and what it says of its kind. */
export interface Resolved {
  readonly plain: Buffer;
  readonly hasEscapes: boolean;
  /** Values of members of the outermost object that were asked for, each up to `maxMark` bytes. */
  readonly marks: ReadonlyMap<string, string>;
  /** Names of members that look as if something had been taken out of them. */
  readonly marked: ReadonlySet<string>;
}

const maxMark = 256;

/**
 * Reads a document strictly. `undefined` where it is not of the format, or has an escape that does not exist; its
 * content is never longer than it is.
 */
export function resolveDocument(
  raw: Buffer,
  text: string,
  structure: Structure,
  markNames: ReadonlySet<string>,
): Resolved | undefined {
  const hasEscapes = text.includes(structure.escape);
  const plain = hasEscapes ? Buffer.allocUnsafe(raw.length) : raw;
  const marks = new Map<string, string>();
  const marked = new Set<string>();
  let length = 0;
  let isSound = true;
  let nextEscape = hasEscapes ? text.indexOf(structure.escape) : -1;
  const isFormat = structure.walk(text, (kind, start, end, field) => {
    if (!isSound) return;
    note(marks, markNames, field, () => text.slice(start, Math.min(end, start + maxMark)), kind);
    if (kind === 'key' && text.startsWith('[redacted:', start)) marked.add(text.slice(start, end));
    if (!hasEscapes) return;
    if (nextEscape >= 0 && nextEscape < start) nextEscape = text.indexOf(structure.escape, start);
    if ((kind !== 'text' && kind !== 'key') || nextEscape < 0 || nextEscape >= end) {
      raw.copy(plain, length, start, end);
      length += end - start;
      return;
    }
    let from = start;
    isSound = eachEscape(text, start, end, structure, (at, to, content) => {
      raw.copy(plain, length, from, at);
      length += at - from;
      length += content.copy(plain, length);
      from = to;
    });
    raw.copy(plain, length, from, end);
    length += end - from;
  });
  if (!isFormat || !isSound) return undefined;
  return { plain: hasEscapes ? plain.subarray(0, length) : raw, hasEscapes, marks, marked };
}

function note(
  marks: Map<string, string>,
  names: ReadonlySet<string>,
  { name, depth }: Field,
  value: () => string,
  kind: string,
): void {
  if (depth > 1 || name === '' || marks.has(name) || !names.has(name)) return;
  // Of a list or an object the bracket: that it is there.
  if (kind === 'text' || kind === 'bare') marks.set(name, value());
  else if (kind === 'frame' && /^[[{]/.test(value())) marks.set(name, value());
}

/** Visits each escape of a piece with what it stands for. False where one stands for nothing and may not. */
export function eachEscape(
  text: string,
  start: number,
  end: number,
  { escape: mark, escapes, decode, isLoose }: Structure,
  visit: (at: number, to: number, content: Buffer) => void,
): boolean {
  const piece = text.slice(start, end);
  let from = 0;
  escapes.lastIndex = 0;
  for (let found = escapes.exec(piece); found; found = escapes.exec(piece)) {
    const { index } = found;
    const to = index + found[0].length;
    if (!isLoose && piece.slice(from, index).includes(mark)) return false;
    const content = decode(found[0]);
    if (content !== undefined) {
      visit(start + index, start + to, Buffer.from(content));
      from = to;
    }
  }
  return isLoose || !piece.slice(from).includes(mark);
}
