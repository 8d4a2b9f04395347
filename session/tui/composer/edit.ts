import { borderAfter, borderBefore } from './borders.ts';
import { type Buffer, bufferLimits, change, sizeOf, withoutLeftovers } from './buffer.ts';
import { fold, foldAt, isLong, lastFold } from './folds.ts';
import { plainText } from './plain-text.ts';

/** Typed text at the cursor. */
export function insert(buffer: Buffer, text: string): Buffer {
  const plain = plainText(text);
  return change(buffer, buffer.cursor, buffer.cursor, plain, plain.includes('\n') ? 'edited' : 'typed');
}

/** Pasted text at the cursor, folded where it is long; `undefined` where the composer would hold too much. */
export function paste(buffer: Buffer, text: string): Buffer | undefined {
  const plain = plainText(text);
  const fits = (into: Buffer): boolean => sizeOf(into) + plain.length <= bufferLimits.characters;
  const into = fits(buffer) ? buffer : withoutLeftovers(buffer);
  if (!fits(into)) return undefined;
  const folded = isLong(plain) ? fold(into.folds, plain) : undefined;
  if (folded === undefined) return change(into, into.cursor, into.cursor, plain, 'edited');
  return change({ ...into, folds: folded.folds }, into.cursor, into.cursor, folded.sign, 'edited');
}

/** Opens the folded paste beside the cursor, else the last one. */
export function unfold(buffer: Buffer): Buffer {
  const { text, cursor, folds } = buffer;
  const at = [cursor - 1, cursor].find((one) => foldAt(buffer, one) !== undefined) ?? lastFold(buffer);
  const found = at === undefined ? undefined : foldAt({ text, folds }, at);
  return at === undefined || found === undefined ? buffer : change(buffer, at, at + 1, found.text, 'edited');
}

export function deleteBefore(buffer: Buffer): Buffer {
  return change(buffer, borderBefore(buffer.text, buffer.cursor), buffer.cursor, '', 'edited');
}

export function deleteAfter(buffer: Buffer): Buffer {
  return change(buffer, buffer.cursor, borderAfter(buffer.text, buffer.cursor), '', 'edited');
}

/** Takes away what is between the cursor and `to`; what is killed by keys in a row is yanked together. */
export function kill(buffer: Buffer, to: number): Buffer {
  const [from, end] = to < buffer.cursor ? [to, buffer.cursor] : [buffer.cursor, to];
  const taken = buffer.text.slice(from, end);
  if (taken === '') return buffer;
  const before = buffer.last === 'killed' ? buffer.killed : '';
  const killed = to < buffer.cursor ? taken + before : before + taken;
  return { ...change(buffer, from, end, '', 'killed'), killed };
}

export function yank(buffer: Buffer): Buffer {
  if (sizeOf(buffer) + buffer.killed.length > bufferLimits.characters) return buffer;
  return change(buffer, buffer.cursor, buffer.cursor, buffer.killed, 'edited');
}

export function lineStart({ text, cursor }: Buffer): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd({ text, cursor }: Buffer): number {
  const at = text.indexOf('\n', cursor);
  return at < 0 ? text.length : at;
}
