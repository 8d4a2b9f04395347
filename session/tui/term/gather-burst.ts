import { cleanPaste } from './clean-paste.ts';
import type { Key } from './key.ts';
import { cutOff } from './read-text.ts';

/** A chunk of this size is a piece of a paste: a keyboard sends less in one read. */
const longChunkBytes = 1000;
const bracketedPaste = '\x1b[200~';
/** Keys that are no text, and answers of a terminal. */
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|O[A-Za-z]|[^[\]P_O])/g;
const lineEnd = /[\r\n]/;
/** One character and Enter may be an answer that arrived in one read. */
const text = /[^\x00-\x1f\x7f][\s\S]*[^\x00-\x1f\x7f]/;

/**
 * Whether a chunk is a paste from a terminal that does not mark pastes. No one types text and a line end within one
 * read, and a line end that counts as Enter would send the text or run it as a command.
 */
export function isBurst(bytes: Uint8Array): boolean {
  const said = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (said.includes(bracketedPaste)) return false;
  const typed = said.replace(sequences, '');
  return lineEnd.test(typed) && text.test(typed);
}

/** Whether more of the same paste may follow a chunk at once. */
export const isPieceOfPaste = (bytes: Uint8Array): boolean => bytes.length >= longChunkBytes;

/** The chunk as one paste, and the bytes of a character that has not arrived whole. */
export function toBurst(bytes: Uint8Array): { readonly key: Key; readonly rest: Uint8Array } {
  const end = bytes.length - cutOff(bytes);
  const said = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, end));
  const rest = Uint8Array.from(bytes.subarray(end));
  return { key: { type: 'paste', text: cleanPaste(said.replace(sequences, '')) }, rest };
}
