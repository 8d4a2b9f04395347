import { cleanPaste } from './clean-paste.ts';
import type { Key } from './key.ts';
import { cutOff } from './read-text.ts';

const bracketedPaste = '\x1b[200~';
/** Keys that are no text, and answers of a terminal. */
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|O[A-Za-z]|[^[\]P_O])/g;
const lineEnd = /[\r\n]/;
/** Control characters; CR LF is one line end. */
const controls = /\r\n|[\x00-\x1f\x7f]/g;
/** A keyboard repeats these while they are held down, so that one of them does not show that a program is writing. */
const repeatedKeys = new Set(['enter', 'backspace']);
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
  /** A control character is in it, for example Tab: neither Enter nor Backspace. */
  readonly hasControl: boolean;
  /** It is known to be a paste from a terminal that does not mark pastes. */
  readonly isPaste: boolean;
}

export const noBurst: Burst = { characters: 0, hasControl: false, isPaste: false };

/**
 * Whether a chunk belongs to a paste from a terminal that does not mark pastes. No one types text, or a control
 * character, and a line end within one burst. A line end that counts as Enter would send the text, run it as a command
 * or answer a question to which a Tab led. A key sequence ends a burst, also a paste that goes on.
 */
export function isBurst(bytes: Uint8Array, before: Burst): boolean {
  const said = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const { characters: already, hasControl, isPaste } = said.startsWith('\x1b') ? noBurst : before;
  if (isPaste) return true;
  if (said.includes(bracketedPaste)) return false;
  const typed = said.replace(sequences, '');
  if (!lineEnd.test(typed)) return false;
  // One of them is the line end.
  const hasMoreControls = (typed.match(controls)?.length ?? 0) > 1;
  const count = already + (typed.match(characters)?.length ?? 0);
  return hasControl || hasMoreControls || count >= fewestCharacters;
}

/** Milliseconds without an octet after which a burst is over; `undefined` if there is none. */
export function gapOf({ characters, hasControl, isPaste }: Burst): number | undefined {
  if (isPaste || characters >= fedCharacters) return fedGapMs;
  return characters > 0 || hasControl ? burstGapMs : undefined;
}

/** The burst after a chunk that was read as `keys`; `isSequence`: an Escape stands in it, or before it. */
export function afterKeys(before: Burst, keys: readonly Key[], isSequence: boolean): Burst {
  const last = isSequence ? keys.findLastIndex(({ type }) => type !== 'text') : -1;
  const { characters, hasControl, isPaste } = last === -1 ? before : noBurst;
  const more = keys.slice(last + 1);
  const counts = more.map((key) => (key.type === 'text' ? [...key.text].length : 0));
  return {
    characters: counts.reduce((sum, count) => sum + count, characters),
    hasControl: hasControl || more.some((key) => key.type === 'key' && !repeatedKeys.has(key.name)),
    isPaste,
  };
}

/** The chunk as one paste, and the bytes of a character that has not arrived whole. */
export function toBurst(bytes: Uint8Array): { readonly text: string; readonly rest: Uint8Array } {
  const end = bytes.length - cutOff(bytes);
  const said = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, end));
  const rest = Uint8Array.from(bytes.subarray(end));
  return { text: cleanPaste(said.replace(sequences, '')), rest };
}
