/* Decodes the bytes of a terminal into keys and pastes, however they are split. */
import { decodeEscape, lengthOf, skipOverlong, skipString } from './decode-escape.ts';
import { charKey, controlKey, type Key, keyOf } from './painter.ts';

/** Octets of one paste that are kept; a person does not read more, and a model neither. */
const mostPasteBytes = 4 * 1024 * 1024;

interface PasteSoFar {
  readonly pieces: readonly Uint8Array[];
  readonly kept: number;
  readonly dropped: number;
}

const emptyPaste: PasteSoFar = { pieces: [], kept: 0, dropped: 0 };

const pasteEnd = Buffer.from('\x1b[201~');

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

function addToPaste(paste: PasteSoFar, bytes: Uint8Array): PasteSoFar {
  const kept = bytes.subarray(0, Math.max(0, mostPasteBytes - paste.kept));
  const dropped = paste.dropped + bytes.length - kept.length;
  if (kept.length === 0) return { ...paste, dropped };
  const pieces = [...paste.pieces, Uint8Array.from(kept)];
  return { pieces, kept: paste.kept + kept.length, dropped };
}

function toPasteKey(paste: PasteSoFar): Key {
  const bytes = Buffer.concat(paste.pieces);
  const whole = paste.dropped === 0 ? bytes : bytes.subarray(0, bytes.length - cutOff(bytes));
  const text = cleanPaste(new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole));
  return paste.dropped === 0 ? { type: 'paste', text } : { type: 'paste', text, dropped: paste.dropped };
}

export interface DecodeState {
  readonly mode: 'keys' | 'paste' | 'string' | 'overlong';
  readonly pending: Uint8Array;
  readonly paste: PasteSoFar;
  /** No bytes of the paste have arrived for long: Ctrl+C now ends it. */
  readonly stalled: boolean;
}

/** What is waited for before `expireKeys`: more of a key, of a sequence, of a paste. */
export type Undecided = 'escape' | 'sequence' | 'paste';

interface Decoded {
  readonly state: DecodeState;
  readonly keys: readonly Key[];
  readonly undecided?: Undecided;
}

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
 * Decodes octets, however they are split. Reports, mouse events and unknown keys are dropped. Pure: `expireKeys`
 * handles time.
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

/** Decides what was pending: a lone Escape is a key, and a stalled paste may be ended. */
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

/** CSI sequences such as colours. They are removed whole, so that no part remains as text. */
const sequences = /\x1b\[[0-?]*[ -/]*[@-~]/g;

/** Normalises pasted text: line ends become `\n`, tabs four spaces, other control characters are removed. */
export function cleanPaste(text: string): string {
  return text
    .replace(sequences, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replace(/(?!\n)\p{Cc}/gu, '');
}

const rubout = 0x7f;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

interface TextRun {
  readonly took: number;
  readonly text: string;
}

/** The text at the beginning, without an incomplete character at its end. */
function readText(bytes: Uint8Array): TextRun {
  let end = 0;
  while (end < bytes.length && isText(bytes[end] ?? 0)) end += 1;
  const took = end < bytes.length ? end : end - cutOff(bytes);
  const text = decoder.decode(bytes.subarray(0, took)).replace(/[\p{Cc}\u2028\u2029]/gu, '');
  return { took, text };
}

/** Octets at the end which begin a character that has not come whole. */
export function cutOff(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const needs = lengthOf(bytes[bytes.length - back] ?? 0);
    if (needs > 0) return needs > back ? back : 0;
  }
  return 0;
}

function isText(octet: number): boolean {
  return octet >= 0x20 && octet !== esc && octet !== rubout;
}
