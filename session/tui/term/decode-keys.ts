import { cleanPaste } from './clean-paste.ts';
import { controlKey } from './control-key.ts';
import { decodeEscape } from './decode-escape.ts';
import { charKey, type Key, keyOf } from './key.ts';
import { cutOff, readText } from './read-text.ts';
import { skipOverlong, skipString } from './skip-sequence.ts';

/** Octets of one paste that are kept; a person does not read more, and a model neither. */
const mostPasteBytes = 4 * 1024 * 1024;

/** A paste of which the end has not come. */
interface PasteSoFar {
  readonly last?: Piece;
  readonly kept: number;
  readonly dropped: number;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly before?: Piece;
}

const emptyPaste: PasteSoFar = { kept: 0, dropped: 0 };

const pasteEnd = Buffer.from('\x1b[201~');

/** How many octets are the paste's, and where keys go on; `after` is missing while the end has not come whole. */
function pasteEndIn(bytes: Uint8Array): { readonly inside: number; readonly after?: number } {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(pasteEnd);
  if (end !== -1) return { inside: end, after: end + pasteEnd.length };
  const most = Math.min(pasteEnd.length - 1, bytes.length);
  for (let held = most; held > 0; held -= 1) {
    const tail = bytes.subarray(bytes.length - held);
    if (pasteEnd.subarray(0, held).equals(tail)) return { inside: bytes.length - held };
  }
  return { inside: bytes.length };
}

function addToPaste(paste: PasteSoFar, bytes: Uint8Array, most = mostPasteBytes): PasteSoFar {
  const kept = bytes.subarray(0, Math.max(0, most - paste.kept));
  const dropped = paste.dropped + bytes.length - kept.length;
  if (kept.length === 0) return { ...paste, dropped };
  const before = paste.last === undefined ? {} : { before: paste.last };
  return { last: { bytes: Uint8Array.from(kept), ...before }, kept: paste.kept + kept.length, dropped };
}

function toPasteKey(paste: PasteSoFar): Key {
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

/** What came and is not decided yet, and what is being read. */
export interface DecodeState {
  readonly mode: 'keys' | 'paste' | 'string' | 'overlong';
  readonly pending: Uint8Array;
  readonly paste: PasteSoFar;
  /** Nothing of the paste came for long: Ctrl+C ends it now. */
  readonly stalled: boolean;
}

/** What is waited for before `expireKeys`: more of a key, of a sequence, of a paste. */
export type Undecided = 'escape' | 'sequence' | 'paste';

export interface Decoded {
  readonly state: DecodeState;
  readonly keys: readonly Key[];
  readonly undecided?: Undecided;
}

/** One step: the state after it, with what is left in `pending`. `waits` ends a reading. */
interface Read {
  readonly state: DecodeState;
  readonly key?: Key;
  readonly waits?: Undecided | 'more';
}

const nothing = new Uint8Array();
const esc = 0x1b;
const ctrlC = 0x03;

export const noKeys: DecodeState = { mode: 'keys', pending: nothing, paste: emptyPaste, stalled: false };

/**
 * The keys that octets of a terminal are, however they were cut. What no key is (reports, the mouse, sequences of
 * keys without a name) is swallowed whole. Pure: time comes in by `expireKeys` alone.
 */
export function decodeKeys(before: DecodeState, bytes: Uint8Array): Decoded {
  const keys: Key[] = [];
  const come = before.pending.length === 0 ? bytes : Buffer.concat([before.pending, bytes]);
  let state: DecodeState = { ...before, pending: come };
  let waits: Read['waits'];
  while (state.pending.length > 0 && waits === undefined) {
    const read: Read = readers[state.mode](state);
    if (read.key !== undefined) keys.push(read.key);
    ({ state, waits } = { waits: undefined, ...read });
  }
  const kept = { ...state, pending: Uint8Array.from(state.pending) };
  const undecided = waits ?? idle[state.mode];
  return undecided === undefined || undecided === 'more'
    ? { state: kept, keys }
    : { state: kept, keys, undecided };
}

/** What has not come by now is not waited for: a lone Escape is one, a paste that stands still may be ended. */
export function expireKeys(state: DecodeState): Decoded {
  if (state.mode === 'paste') return { state: { ...state, stalled: true }, keys: [] };
  if (state.mode !== 'keys') return { state: noKeys, keys: [] };
  const [first, second, third] = state.pending;
  if (first !== esc) return { state, keys: [] };
  const lone = keyOf('escape');
  if (second === undefined) return { state: noKeys, keys: [lone] };
  if (second === esc) {
    if (third === undefined) return { state: noKeys, keys: [lone, lone] };
    const rest = expireKeys({ ...state, pending: state.pending.subarray(1) });
    return rest.keys.length === 0 ? { state, keys: [] } : { ...rest, keys: [lone, ...rest.keys] };
  }
  if (third !== undefined) return { state, keys: [] };
  return { state: noKeys, keys: [charKey(String.fromCharCode(second), { alt: true })] };
}

/** What a mode waits for when all that came is read. */
const idle: Readonly<Record<DecodeState['mode'], Undecided | undefined>> = {
  keys: undefined,
  paste: 'paste',
  string: 'sequence',
  overlong: 'sequence',
};

const readers: Readonly<Record<DecodeState['mode'], (state: DecodeState) => Read>> = {
  keys: readKey,
  paste: readPaste,
  string: (state) => leave(state, skipString(state.pending)),
  overlong: (state) => leave(state, skipOverlong(state.pending)),
};

function readKey(state: DecodeState): Read {
  const bytes = state.pending;
  const first = bytes[0] ?? 0;
  if (first === esc) {
    const { took, key, next, undecided } = decodeEscape(bytes);
    if (took === 0) return { state, waits: undecided ?? 'more' };
    const after: DecodeState = { ...without(state, took), mode: next ?? 'keys', paste: emptyPaste };
    return key === undefined ? { state: after } : { state: after, key };
  }
  const control = controlKey(first);
  if (control !== undefined) return { state: without(state, 1), key: control };
  const { took, text } = readText(bytes);
  if (took === 0) return { state, waits: 'more' };
  return text === ''
    ? { state: without(state, took) }
    : { state: without(state, took), key: { type: 'text', text } };
}

function readPaste(state: DecodeState): Read {
  if (state.stalled && state.pending[0] === ctrlC) {
    return { state: { ...noKeys, pending: state.pending.subarray(1) }, key: toPasteKey(state.paste) };
  }
  const { inside, after } = pasteEndIn(state.pending);
  const paste = addToPaste(state.paste, state.pending.subarray(0, inside));
  if (after === undefined) {
    const moved = { ...without(state, inside), paste, stalled: false };
    return { state: moved, waits: 'paste' };
  }
  return { state: { ...noKeys, pending: state.pending.subarray(after) }, key: toPasteKey(paste) };
}

/** Goes back to keys where a sequence that is skipped has ended. */
function leave(
  state: DecodeState,
  { took, ended }: { readonly took: number; readonly ended: boolean },
): Read {
  const after = without(state, took);
  if (ended) return { state: { ...after, mode: 'keys' } };
  return after.pending.length === 0 ? { state: after } : { state: after, waits: 'sequence' };
}

function without(state: DecodeState, took: number): DecodeState {
  return { ...state, pending: state.pending.subarray(took) };
}
