import { cleanPaste } from './clean-paste.ts';
import type { Key } from './key.ts';
import { cutOff } from './read-text.ts';

const bracketedPaste = '\x1b[200~';
/** Keys that are no text, and answers of a terminal. */
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|O[A-Za-z]|[^[\]P_O])/g;
const lineEnd = /[\r\n]/;
/** First octets of characters: neither a control nor the rest of a character (read as Latin-1). */
const characters = /[^\x00-\x1f\x7f-\xbf]/g;
/** One character and Enter may be an answer that arrived at once. */
const fewestCharacters = 2;

/**
 * Milliseconds after a character within which the next octets belong to the same burst. Nobody types a character and
 * Enter within it: a fast typist needs 60 ms from key to key, and a keyboard repeats a key after 33 ms.
 */
const burstGapMs = 30;
/** So many characters with such gaps no one types: a program sends them, and may need `fedGapMs` for the next piece. */
const fedCharacters = 8;
/** Nobody presses Enter so soon after a paste or after an input method has entered a phrase. */
const fedGapMs = 100;

/** What has arrived without a pause, as far as it tells a paste from typing. */
export interface Burst {
  /** Characters of text in it. */
  readonly characters: number;
  /** It is known to be a paste from a terminal that does not mark pastes. */
  readonly isPaste: boolean;
}

export const noBurst: Burst = { characters: 0, isPaste: false };

/**
 * Whether a chunk belongs to a paste from a terminal that does not mark pastes. No one types text and a line end within
 * one burst, and a line end that counts as Enter would send the text or run it as a command. A key sequence ends a
 * burst, also a paste that goes on.
 */
export function isBurst(bytes: Uint8Array, before: Burst): boolean {
  const said = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const { characters: already, isPaste } = said.startsWith('\x1b') ? noBurst : before;
  if (isPaste) return true;
  if (said.includes(bracketedPaste)) return false;
  const typed = said.replace(sequences, '');
  return lineEnd.test(typed) && already + (typed.match(characters)?.length ?? 0) >= fewestCharacters;
}

/** Milliseconds without an octet after which a burst is over; `undefined` if there is none. */
export function gapOf({ characters, isPaste }: Burst): number | undefined {
  if (isPaste || characters >= fedCharacters) return fedGapMs;
  return characters > 0 ? burstGapMs : undefined;
}

/** The burst after a chunk that was read as `keys`; `isSequence`: an Escape stands in it, or before it. */
export function afterKeys(before: Burst, keys: readonly Key[], isSequence: boolean): Burst {
  const last = isSequence ? keys.findLastIndex(({ type }) => type !== 'text') : -1;
  const { characters, isPaste } = last === -1 ? before : noBurst;
  const more = keys.slice(last + 1).map((key) => (key.type === 'text' ? [...key.text].length : 0));
  return { characters: more.reduce((sum, count) => sum + count, characters), isPaste };
}

/** The chunk as one paste, and the bytes of a character that has not arrived whole. */
export function toBurst(bytes: Uint8Array): { readonly text: string; readonly rest: Uint8Array } {
  const end = bytes.length - cutOff(bytes);
  const said = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, end));
  const rest = Uint8Array.from(bytes.subarray(end));
  return { text: cleanPaste(said.replace(sequences, '')), rest };
}
