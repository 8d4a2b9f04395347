/* Decodes the bytes of a terminal into keys and pastes, however they are split. */
import { charKey, controlKey, type Key, type KeyName, keyOf, type Modifiers } from './painter.ts';

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

/** One step of decoding. `took` is 0 if more octets are needed. */
interface Step {
  readonly took: number;
  readonly key?: Key;
  /** What comes next is not keys: a paste, a text for the terminal (`string`), or a sequence that is too long. */
  readonly next?: 'paste' | 'string' | 'overlong';
  /**
   * Input that is a key by itself if no more bytes arrive: a lone Escape, or Alt with the first character of a
   * sequence.
   */
  readonly undecided?: 'escape' | 'sequence';
}

/** More than any terminal sends between `ESC [` and the end of it. */
const longestSequence = 256;
/** The character that distinguishes a string sequence (OSC, DCS, APC) from Alt with a typed sign. */
const strings: Readonly<Record<string, RegExp>> = { ']': /[0-9Ll]/, P: /[0-9!>?]/, _: /G/ };
const strictDecoder = new TextDecoder('utf-8', { fatal: true });

function decodeEscape(bytes: Uint8Array): Step {
  const [, second, third] = bytes;
  if (second === undefined) return { took: 0, undecided: 'escape' };
  if (second === esc) return decodeTwoEscapes(bytes, third);
  const sign = String.fromCharCode(second);
  if (sign === '[') return decodeCsi(bytes);
  if (sign === 'O') return decodeSs3(bytes);
  const begun = strings[sign];
  if (begun !== undefined) {
    if (third === undefined) return { took: 0, undecided: 'escape' };
    if (begun.test(String.fromCharCode(third))) return { took: 2, next: 'string' };
  }
  if (second >= 0x80) return decodeAltCharacter(bytes, second);
  const control = controlKey(second);
  return { took: 2, key: control === undefined ? charKey(sign, { alt: true }) : withAlt(control) };
}

/** Alt with a cursor key in some terminals; otherwise a lone Escape. */
function decodeTwoEscapes(bytes: Uint8Array, third: number | undefined): Step {
  const lone: Step = { took: 1, key: keyOf('escape') };
  if (third === undefined) return { took: 0, undecided: 'escape' };
  if (third !== 0x5b && third !== 0x4f) return lone;
  const inner = decodeEscape(bytes.subarray(1));
  if (inner.took === 0) return inner;
  return inner.key?.type === 'key' ? { took: inner.took + 1, key: withAlt(inner.key) } : lone;
}

function decodeCsi(bytes: Uint8Array): Step {
  if (bytes.length === 2) return { took: 0, undecided: 'sequence' };
  let end = 2;
  while (isParameter(bytes[end] ?? 0)) end += 1;
  if (end > longestSequence) return { took: end, next: 'overlong' };
  const final = bytes[end];
  if (final === undefined) return { took: 0 };
  if (!isFinal(final)) return { took: end };
  const parameters = String.fromCharCode(...bytes.subarray(2, end));
  const sign = String.fromCharCode(final);
  if (sign === '~' && parameters === '200') return { took: end + 1, next: 'paste' };
  const key = csiKey(parameters, sign);
  return key === undefined ? { took: end + 1 } : { took: end + 1, key };
}

function decodeSs3(bytes: Uint8Array): Step {
  if (bytes.length === 2) return { took: 0, undecided: 'sequence' };
  let end = 2;
  while (isDigit(bytes[end] ?? 0)) end += 1;
  if (end > longestSequence) return { took: end, next: 'overlong' };
  const final = bytes[end];
  if (final === undefined) return { took: 0 };
  if (!isFinal(final)) return { took: end };
  const key = ss3Key(String.fromCharCode(...bytes.subarray(2, end)), String.fromCharCode(final));
  return key === undefined ? { took: end + 1 } : { took: end + 1, key };
}

function decodeAltCharacter(bytes: Uint8Array, lead: number): Step {
  const needs = lengthOf(lead);
  const come = bytes.subarray(1, 1 + needs);
  const whole = come.every((octet, at) => at === 0 || (octet & 0xc0) === 0x80);
  if (needs > 0 && whole && come.length < needs) return { took: 0 };
  const lone: Step = { took: 1, key: keyOf('escape') };
  if (needs === 0 || !whole) return lone;
  try {
    const char = strictDecoder.decode(come);
    return /\p{Cc}/u.test(char) ? lone : { took: 1 + needs, key: charKey(char, { alt: true }) };
  } catch {
    return lone;
  }
}

function withAlt(key: Key): Key {
  return key.type === 'key' ? { ...key, alt: true } : key;
}

const letters: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
};

const numbers: Readonly<Record<number, KeyName>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
};

const mostNumber = 9_999_999;

/**
 * The key for `ESC [ parameters final`. `undefined` if it is not a key: a report, the mouse, or a key without a name.
 */
function csiKey(parameters: string, final: string): Key | undefined {
  if (/[^\d:;]/.test(parameters)) return undefined;
  const fields = parameters.split(';').map((field) => field.split(':').map(toNumber));
  const [[first = 0, shifted] = [], [modified = 1, event = 1] = [], [third] = []] = fields;
  if (event > 2) return undefined;
  const modifiers = modifiersOf(modified);
  if (modifiers === undefined) return undefined;
  if (final === 'u') return codeKey(first, modifiers, shifted);
  if (final === 'Z') return keyOf('tab', { ...modifiers, shift: true });
  if (final === '~' && first === 27 && third !== undefined) return codeKey(third, modifiers);
  const name = letters[final];
  if (name !== undefined) return keyOf(name, modifiers);
  const numbered = numbers[first];
  return final === '~' && numbered !== undefined ? keyOf(numbered, modifiers) : undefined;
}

/** The key for `ESC O [modifier] final`. `undefined` if it is not a key. */
function ss3Key(parameters: string, final: string): Key | undefined {
  const modifiers = modifiersOf(toNumber(parameters));
  if (modifiers === undefined) return undefined;
  const name = letters[final];
  if (name !== undefined) return keyOf(name, modifiers);
  return final === 'M' ? keyOf('enter', modifiers) : undefined;
}

/** Decodes modifiers, sent as their bits plus one. `undefined` with Super or Hyper: the desktop uses those. */
function modifiersOf(value: number): Modifiers | undefined {
  const bits = Math.max(value, 1) - 1;
  if ((bits & 0b1_1000) !== 0) return undefined;
  return { shift: (bits & 1) !== 0, alt: (bits & 0b10_0010) !== 0, ctrl: (bits & 4) !== 0 };
}

function toNumber(digits: string): number {
  return digits === '' ? 1 : Math.min(Number(digits), mostNumber);
}

/** Keys that a terminal sends as a number of kitty's protocol or as their legacy code. */
const named = new Map<number, KeyName>([
  [8, 'backspace'],
  [9, 'tab'],
  [13, 'enter'],
  [27, 'escape'],
  [127, 'backspace'],
  [57_414, 'enter'],
  [57_417, 'left'],
  [57_418, 'right'],
  [57_419, 'up'],
  [57_420, 'down'],
  [57_421, 'page-up'],
  [57_422, 'page-down'],
  [57_423, 'home'],
  [57_424, 'end'],
  [57_426, 'delete'],
]);

/** The key or text for a character number with modifiers. `undefined` for a key that writ does not know. */
function codeKey(code: number, modifiers: Modifiers, shifted = code): Key | undefined {
  const name = named.get(code);
  if (name !== undefined) return keyOf(name, modifiers);
  const char = charOf(code);
  if (char === undefined) return undefined;
  if (modifiers.ctrl || modifiers.alt) return charKey(char, modifiers);
  const upper = shifted <= 0x20 || shifted === code ? char.toUpperCase() : charOf(shifted);
  const text = modifiers.shift ? upper : char;
  return text === undefined ? undefined : { type: 'text', text };
}

function charOf(code: number): string | undefined {
  if (code > 0x10_ffff) return undefined;
  const char = String.fromCodePoint(code);
  return /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u.test(char) ? undefined : char;
}

/** Parameter and intermediate octets of a control sequence (ECMA-48, 5.4). */
function isParameter(octet: number): boolean {
  return octet >= 0x20 && octet < 0x40;
}

/** The last octet of a control sequence. */
function isFinal(octet: number): boolean {
  return octet >= 0x40 && octet < 0x7f;
}

function isDigit(octet: number): boolean {
  return octet >= 0x30 && octet < 0x3a;
}

interface Skipped {
  readonly took: number;
  readonly ended: boolean;
}

const bell = 0x07;
const backslash = 0x5c;

export function skipString(bytes: Uint8Array): Skipped {
  const at = bytes.findIndex((octet) => octet < 0x20);
  if (at === -1) return { took: bytes.length, ended: false };
  if (bytes[at] === bell) return { took: at + 1, ended: true };
  if (bytes[at] !== esc) return { took: at, ended: true };
  if (at + 1 === bytes.length) return { took: at, ended: false };
  return { took: bytes[at + 1] === backslash ? at + 2 : at, ended: true };
}

function skipOverlong(bytes: Uint8Array): Skipped {
  const at = bytes.findIndex((octet) => !isParameter(octet));
  if (at === -1) return { took: bytes.length, ended: false };
  return { took: isFinal(bytes[at] ?? 0) ? at + 1 : at, ended: true };
}

/** How many octets a character has that begins so; 0 where none does. */
export function lengthOf(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}
