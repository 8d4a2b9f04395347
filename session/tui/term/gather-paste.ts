import { cleanPaste } from './clean-paste.ts';
import type { Key } from './key.ts';
import { cutOff } from './read-text.ts';

/** Octets of one paste that are kept; a person does not read more, and a model neither. */
const mostPasteBytes = 4 * 1024 * 1024;

/** A paste of which the end has not come. */
export interface PasteSoFar {
  readonly last?: Piece;
  readonly kept: number;
  readonly dropped: number;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly before?: Piece;
}

export const emptyPaste: PasteSoFar = { kept: 0, dropped: 0 };

const pasteEnd = Buffer.from('\x1b[201~');

/** How many octets are the paste's, and where keys go on; `after` is missing while the end has not come whole. */
export function pasteEndIn(bytes: Uint8Array): { readonly inside: number; readonly after?: number } {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(pasteEnd);
  if (end !== -1) return { inside: end, after: end + pasteEnd.length };
  const most = Math.min(pasteEnd.length - 1, bytes.length);
  for (let held = most; held > 0; held -= 1) {
    const tail = bytes.subarray(bytes.length - held);
    if (pasteEnd.subarray(0, held).equals(tail)) return { inside: bytes.length - held };
  }
  return { inside: bytes.length };
}

export function addToPaste(paste: PasteSoFar, bytes: Uint8Array, most = mostPasteBytes): PasteSoFar {
  const kept = bytes.subarray(0, Math.max(0, most - paste.kept));
  const dropped = paste.dropped + bytes.length - kept.length;
  if (kept.length === 0) return { ...paste, dropped };
  const before = paste.last === undefined ? {} : { before: paste.last };
  return { last: { bytes: Uint8Array.from(kept), ...before }, kept: paste.kept + kept.length, dropped };
}

export function toPasteKey(paste: PasteSoFar): Key {
  const bytes = new Uint8Array(paste.kept);
  let end = paste.kept;
  for (let piece = paste.last; piece !== undefined; piece = piece.before) {
    end -= piece.bytes.length;
    bytes.set(piece.bytes, end);
  }
  // A character that the bound cut in two is none.
  const whole = paste.dropped === 0 ? bytes : bytes.subarray(0, bytes.length - cutOff(bytes));
  const text = cleanPaste(new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole));
  return paste.dropped === 0 ? { type: 'paste', text } : { type: 'paste', text, dropped: paste.dropped };
}
