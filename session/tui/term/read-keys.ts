import type { Clock } from '../../../core/base/clock.ts';
import { cleanPaste } from './clean-paste.ts';
import { type DecodeState, decodeKeys, expireKeys, noKeys, type Undecided } from './decode-keys.ts';
import type { Ground } from './ground.ts';
import type { Key } from './key.ts';
import { cutOff } from './read-text.ts';

/** Milliseconds without an octet after which what is undecided is decided. */
export type Patience = Readonly<Record<Undecided, number>>;

/**
 * An Escape is one when nothing follows at once; what has begun as a sequence is waited for as long as a slow line may
 * need between two of its parts; a paste that stands still so long has lost its end.
 */
export const usualPatience: Patience = { escape: 40, sequence: 1000, paste: 5000 };

/** Over a line to another machine what belongs together comes less close together. */
export function patienceOf({ SSH_CONNECTION, SSH_TTY }: Ground['env']): Patience {
  return (SSH_CONNECTION ?? SSH_TTY ?? '') === '' ? usualPatience : { ...usualPatience, escape: 100 };
}

/** What stands behind the Escape of a key that is no text, whole. */
const restOfKey = /^(?:\[[0-?]*[ -/]*[@-~]|O[A-Za-z])/;
const esc = Buffer.of(0x1b);

export interface KeyReader {
  feed(bytes: Uint8Array): void;
  /** Nothing is told from then on. */
  stop(): void;
}

/**
 * Reports the keys that bytes are, as soon as that is certain, in order. Text with line ends that arrives at once, or
 * with gaps too short for typing (`gapOf`), is a paste, and what follows so belongs to it, unless a key sequence begins
 * there. What one chunk has behind the end of a marked paste belongs to the paste: the pasted text can hold that mark.
 * While `isAsking`, a single letter may answer a question: it is reported once nothing followed it in such a
 * gap, and together with the next letter of a paste otherwise.
 */
export function readKeys(
  clock: Clock,
  told: (keys: readonly Key[]) => void,
  patience: Patience = usualPatience,
  isAsking: () => boolean = () => false,
): KeyReader {
  let state: DecodeState = noKeys;
  let waiting = new AbortController();
  let stopped = false;
  /** Until when the rest of a key may come whose Escape was taken for one. */
  let lateUntilMs = Number.NEGATIVE_INFINITY;
  let burst: Burst = noBurst;
  /** A letter that is reported when its burst is over, or with what follows. */
  let held = '';
  const tell = (keys: readonly Key[]): void => {
    const all: readonly Key[] = held === '' ? keys : [{ type: 'text', text: held }, ...keys];
    held = '';
    if (all.length > 0) told(all);
  };
  const tellTyped = (keys: readonly Key[]): void => {
    const [key, ...more] = keys;
    if (key?.type !== 'text') {
      if (keys.length > 0) tell(keys);
    } else if (held !== '') {
      const text = held + key.text;
      held = '';
      tell([{ type: 'text', text }, ...more]);
    } else if (more.length === 0 && [...key.text].length === 1 && isAsking()) held = key.text;
    else tell(keys);
  };
  /** The burst is over when nothing arrives in time; what had arrived while the process was held up is read first. */
  const hold = (next: Burst): void => {
    burst = next;
    const gapMs = gapOf(next);
    if (gapMs === undefined) return;
    const { signal } = waiting;
    clock.sleep(gapMs, signal).then(
      () =>
        setImmediate(() => {
          if (signal.aborted || stopped) return;
          burst = noBurst;
          tell([]);
        }),
      () => {},
    );
  };
  const wait = (undecided: Undecided): void => {
    const { signal } = waiting;
    clock.sleep(patience[undecided], signal).then(
      () => {
        if (signal.aborted || stopped) return;
        const expired = expireKeys(state);
        if (undecided === 'escape') lateUntilMs = clock.monotonic() + patience.sequence;
        state = expired.state;
        tell(expired.keys);
      },
      () => {},
    );
  };
  return {
    feed: (bytes) => {
      if (stopped) return;
      waiting.abort();
      waiting = new AbortController();
      const { mode, pending } = state;
      const begun = pending[0] === esc[0];
      if (mode === 'keys' && !begun && isBurst(bytes, burst)) {
        const { text, rest } = toBurst(Buffer.concat([pending, bytes]));
        state = { ...noKeys, pending: rest };
        lateUntilMs = Number.NEGATIVE_INFINITY;
        hold({ ...burst, isPaste: true });
        const whole = held + text;
        held = '';
        tell([{ type: 'paste', text: whole }]);
        return;
      }
      // Nobody types that at once, and as text it would be sent to a model.
      const isLate = clock.monotonic() < lateUntilMs && restOfKey.test(Buffer.from(bytes).toString('latin1'));
      lateUntilMs = Number.NEGATIVE_INFINITY;
      const decoded = decodeKeys(state, isLate ? Buffer.concat([esc, bytes]) : bytes);
      state = decoded.state;
      const isText = mode === 'keys' && state.mode === 'keys';
      const isSequence = begun || isLate || bytes.includes(0x1b);
      hold(isText ? afterKeys(burst, decoded.keys, isSequence) : noBurst);
      if (decoded.undecided !== undefined) wait(decoded.undecided);
      if (isText && !isSequence) tellTyped(decoded.keys);
      else tell(withoutTypingBehindPaste(decoded.keys));
    },
    stop: () => {
      stopped = true;
      waiting.abort();
    },
  };
}

/** Text and line ends behind a paste as a second paste; other keys there are dropped. */
function withoutTypingBehindPaste(keys: readonly Key[]): readonly Key[] {
  const at = keys.findIndex(({ type }) => type === 'paste');
  const behind = keys
    .slice(at + 1)
    .map((key) => (key.type !== 'key' ? key.text : /^(?:enter|char:j)$/.test(key.name) ? '\n' : ''))
    .join('');
  if (at === -1) return keys;
  return [...keys.slice(0, at + 1), ...(behind === '' ? [] : [{ type: 'paste', text: behind } as const])];
}

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
interface Burst {
  /** Characters of text in it. */
  readonly characters: number;
  /** A control character is in it, for example Tab: neither Enter nor Backspace. */
  readonly hasControl: boolean;
  /** It is known to be a paste from a terminal that does not mark pastes. */
  readonly isPaste: boolean;
}

const noBurst: Burst = { characters: 0, hasControl: false, isPaste: false };

/**
 * Whether a chunk belongs to a paste from a terminal that does not mark pastes. No one types text, or a control
 * character, and a line end within one burst. A line end that counts as Enter would send the text, run it as a command
 * or answer a question to which a Tab led. A key sequence ends a burst, also a paste that goes on.
 */
function isBurst(bytes: Uint8Array, before: Burst): boolean {
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
function gapOf({ characters, hasControl, isPaste }: Burst): number | undefined {
  if (isPaste || characters >= fedCharacters) return fedGapMs;
  return characters > 0 || hasControl ? burstGapMs : undefined;
}

/** The burst after a chunk that was read as `keys`; `isSequence`: an Escape stands in it, or before it. */
function afterKeys(before: Burst, keys: readonly Key[], isSequence: boolean): Burst {
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
function toBurst(bytes: Uint8Array): { readonly text: string; readonly rest: Uint8Array } {
  const end = bytes.length - cutOff(bytes);
  const said = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, end));
  const rest = Uint8Array.from(bytes.subarray(end));
  return { text: cleanPaste(said.replace(sequences, '')), rest };
}
