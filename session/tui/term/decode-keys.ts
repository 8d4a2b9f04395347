import { controlKey } from './control-key.ts';
import { decodeEscape } from './decode-escape.ts';
import { addToPaste, emptyPaste, type PasteSoFar, pasteEndIn, toPasteKey } from './gather-paste.ts';
import { charKey, type Key, keyOf } from './key.ts';
import { readText } from './read-text.ts';
import { skipOverlong, skipString } from './skip-sequence.ts';

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
