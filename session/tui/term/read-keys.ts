/* Reads keys from a terminal, with timeouts and detection of unmarked pastes. */
import type { Clock } from '../../../core/base/clock.ts';
import {
  cleanPaste,
  cutOff,
  type DecodeState,
  decodeKeys,
  expireKeys,
  noKeys,
  type Undecided,
} from './decode-keys.ts';
import type { Key } from './painter.ts';
import type { Ground } from './process-ground.ts';

/** Milliseconds without an octet after which what is undecided is decided. */
export type Patience = Readonly<Record<Undecided, number>>;

/**
 * Milliseconds to wait: an Escape alone is a key at once, a sequence may arrive slowly, and a paste that stalls has
 * lost its end.
 */
export const usualPatience: Patience = { escape: 40, sequence: 1000, paste: 5000 };

/** Over a line to another machine what belongs together comes less close together. */
export function patienceOf({ SSH_CONNECTION, SSH_TTY }: Ground['env']): Patience {
  return (SSH_CONNECTION ?? SSH_TTY ?? '') === '' ? usualPatience : { ...usualPatience, escape: 100 };
}

/** The rest of a key sequence behind its Escape. */
const restOfKey = /^(?:\[[0-?]*[ -/]*[@-~]|O[A-Za-z])/;
const esc = Buffer.of(0x1b);

export interface KeyReader {
  feed(bytes: Uint8Array): void;
  stop(): void;
}

/**
 * Reports keys in order, as soon as they are certain. Text with line ends that arrives in one burst is a paste, and so
 * is what follows in the burst, unless a key sequence begins there. Text behind a marked paste in the same chunk
 * belongs to it. While `isAsking`, a single letter is held until its burst is over.
 */
export function readKeys(
  clock: Clock,
  onKeys: (keys: readonly Key[]) => void,
  patience: Patience = usualPatience,
  isAsking: () => boolean = () => false,
): KeyReader {
  let state: DecodeState = noKeys;
  let waiting = new AbortController();
  let stopped = false;
  /** Time until which the rest of a sequence may arrive after its Escape was reported as a key. */
  let lateUntilMs = Number.NEGATIVE_INFINITY;
  let burst: Burst = noBurst;
  /** A letter that is reported when its burst is over, or with what follows. */
  let held = '';
  const report = (keys: readonly Key[]): void => {
    const all: readonly Key[] = held === '' ? keys : [{ type: 'text', text: held }, ...keys];
    held = '';
    if (all.length > 0) onKeys(all);
  };
  const reportTyped = (keys: readonly Key[]): void => {
    const [key, ...more] = keys;
    if (key?.type !== 'text') {
      if (keys.length > 0) report(keys);
    } else if (held !== '') {
      const text = held + key.text;
      held = '';
      report([{ type: 'text', text }, ...more]);
    } else if (more.length === 0 && [...key.text].length === 1 && isAsking()) held = key.text;
    else report(keys);
  };
  /** The burst ends when no input arrives in time. Input that arrived while the process was blocked is read first. */
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
          report([]);
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
        report(expired.keys);
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
        report([{ type: 'paste', text: whole }]);
        return;
      }
      // No one types that at once; as text it would be sent to a model.
      const isLate = clock.monotonic() < lateUntilMs && restOfKey.test(Buffer.from(bytes).toString('latin1'));
      lateUntilMs = Number.NEGATIVE_INFINITY;
      const decoded = decodeKeys(state, isLate ? Buffer.concat([esc, bytes]) : bytes);
      state = decoded.state;
      const isText = mode === 'keys' && state.mode === 'keys';
      const isSequence = begun || isLate || bytes.includes(0x1b);
      hold(isText ? afterKeys(burst, decoded.keys, isSequence) : noBurst);
      if (decoded.undecided !== undefined) wait(decoded.undecided);
      if (isText && !isSequence) reportTyped(decoded.keys);
      else report(withoutTypingBehindPaste(decoded.keys));
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
/** Escape sequences: keys without text, and replies of the terminal. */
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|O[A-Za-z]|[^[\]P_O])/g;
const lineEnd = /[\r\n]/;
/** Control characters; CR LF is one line end. */
const controls = /\r\n|[\x00-\x1f\x7f]/g;
/** A keyboard repeats these while they are held down, so that one of them does not show that a program is writing. */
const repeatedKeys = new Set(['enter', 'backspace']);
/** First octets of characters: neither a control nor the rest of a character (read as Latin-1). */
const characters = /[^\x00-\x1f\x7f-\xbf]/g;

/**
 * Milliseconds between octets of one burst. A fast typist needs 60 ms from key to key; a keyboard repeats a key after
 * 33 ms.
 */
const burstGapMs = 30;
/** So many characters with such gaps no one types: a program sends them, and may need `fedGapMs` for the next piece. */
const fedCharacters = 8;
/** No one presses Enter so soon after a paste or a phrase of an input method. */
const fedGapMs = 100;

/** Octets that arrived without a pause; they distinguish a paste from typing. */
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
 * Whether a chunk belongs to an unmarked paste: text and a line end within one burst. As Enter, the line end would
 * send the text, run a command or answer a question. A key sequence ends a burst.
 */
function isBurst(bytes: Uint8Array, before: Burst): boolean {
  const said = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const { characters: already, hasControl, isPaste } = said.startsWith('\x1b') ? noBurst : before;
  if (isPaste) return true;
  if (said.includes(bracketedPaste)) return false;
  const typed = said.replace(sequences, '');
  if (!lineEnd.test(typed)) return false;
  const hasMoreControls = (typed.match(controls)?.length ?? 0) > 1;
  const count = already + (typed.match(characters)?.length ?? 0);
  return hasControl || hasMoreControls || count > 0;
}

/** Milliseconds without an octet after which a burst is over; `undefined` if there is none. */
function gapOf({ characters, hasControl, isPaste }: Burst): number | undefined {
  if (isPaste || characters >= fedCharacters) return fedGapMs;
  return characters > 0 || hasControl ? burstGapMs : undefined;
}

/** The burst after a chunk that was read as `keys`. `isSequence`: it holds an Escape. */
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
