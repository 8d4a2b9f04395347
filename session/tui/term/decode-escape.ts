import { controlKey } from './control-key.ts';
import { charKey, type Key, type KeyName, keyOf, type Modifiers, unmodified } from './key.ts';
import { lengthOf } from './read-text.ts';
import { isDigit, isFinal, isParameter } from './sequence-octets.ts';

/** What the beginning of some octets is. `took` is 0 where that cannot be told before more have come. */
export interface Step {
  readonly took: number;
  readonly key?: Key;
  /** What comes next is not keys: a paste, a text for the terminal (`string`), or a sequence that is too long. */
  readonly next?: 'paste' | 'string' | 'overlong';
  /** What could be a key by itself, if nothing more comes: a lone Escape, or Alt with the sign of a sequence. */
  readonly undecided?: 'escape' | 'sequence';
}

const esc = 0x1b;
/** More than any terminal sends between `ESC [` and the end of it. */
const longestSequence = 256;
/**
 * What a text for a program begins with: a number or `L` and `l` (OSC, answers of xterm), parameters (DCS), `G` (APC,
 * answers of kitty about graphics). Behind Alt with one of these signs whatever else comes is typed.
 */
const strings: Readonly<Record<string, RegExp>> = { ']': /[0-9Ll]/, P: /[0-9!>?]/, _: /G/ };
const decoder = new TextDecoder('utf-8', { fatal: true });

/** What begins with an Escape. */
export function decodeEscape(bytes: Uint8Array): Step {
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

/** Alt with an arrow in some terminals, and a lone Escape before something else in all of them. */
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
  // The function keys of a Linux console have a second bracket.
  if (bytes[2] === 0x5b) return bytes.length === 3 ? { took: 0 } : { took: 4 };
  let end = 2;
  while (isParameter(bytes[end] ?? 0) && !isOldShift(bytes, end)) end += 1;
  if (end > longestSequence) return { took: end, next: 'overlong' };
  const final = bytes[end];
  if (final === undefined) return { took: 0 };
  if (!isFinal(final) && final !== 0x24) return { took: end };
  const parameters = String.fromCharCode(...bytes.subarray(2, end));
  const sign = String.fromCharCode(final);
  if (sign === 'M' && parameters === '') return decodeOldMouse(bytes);
  if (sign === '~' && parameters === '200') return { took: end + 1, next: 'paste' };
  const key = csiKey(parameters, sign);
  return key === undefined ? { took: end + 1 } : { took: end + 1, key };
}

/** Three octets follow, of any value but those of controls. */
function decodeOldMouse(bytes: Uint8Array): Step {
  for (let at = 3; at < 6; at += 1) {
    const octet = bytes[at];
    if (octet === undefined) return { took: 0 };
    if (octet < 0x20) return { took: at };
  }
  return { took: 6 };
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
    const char = decoder.decode(come);
    return /\p{Cc}/u.test(char) ? lone : { took: 1 + needs, key: charKey(char, { alt: true }) };
  } catch {
    return lone;
  }
}

function withAlt(key: Key): Key {
  return key.type === 'key' ? { ...key, alt: true } : key;
}

/** `ESC [ 3 $`: rxvt ends a key with Shift by what stands between elsewhere. */
function isOldShift(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x24 && at > 2 && bytes.subarray(2, at).every(isDigit);
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

const oldModifiers: Readonly<Record<string, Modifiers>> = {
  '~': unmodified,
  $: { ...unmodified, shift: true },
  '^': { ...unmodified, ctrl: true },
  '@': { ctrl: true, alt: false, shift: true },
};

/** Of the keypad, where a program before this one left it in its own mode. */
const keypad: Readonly<Record<string, string>> = {
  X: '=',
  j: '*',
  k: '+',
  l: ',',
  m: '-',
  n: '.',
  o: '/',
  ...Object.fromEntries([...'pqrstuvwxy'].map((final, digit) => [final, String(digit)])),
};

/** The most that a number of a sequence can mean. */
const mostNumber = 9_999_999;

/** The key that `ESC [ parameters final` is; nothing where it is none (a report, the mouse, a key without a name). */
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
  const arrow = /^[abcd]$/.test(final) ? letters[final.toUpperCase()] : undefined;
  if (arrow !== undefined) return keyOf(arrow, { shift: true });
  const old = oldModifiers[final];
  const numbered = numbers[first];
  if (old === undefined || numbered === undefined) return undefined;
  return keyOf(numbered, final === '~' ? modifiers : old);
}

/** The key that `ESC O [modifier] final` is; nothing where it is none. */
function ss3Key(parameters: string, final: string): Key | undefined {
  const modifiers = modifiersOf(toNumber(parameters));
  if (modifiers === undefined) return undefined;
  const name = letters[final];
  if (name !== undefined) return keyOf(name, modifiers);
  if (final === 'M') return keyOf('enter', modifiers);
  const arrow = /^[abcd]$/.test(final) ? letters[final.toUpperCase()] : undefined;
  if (arrow !== undefined) return keyOf(arrow, { ctrl: true });
  const text = keypad[final];
  return text === undefined ? undefined : { type: 'text', text };
}

/** One more than the bits of what is held down. Nothing with Super or Hyper: those belong to the desktop. */
function modifiersOf(value: number): Modifiers | undefined {
  const bits = Math.max(value, 1) - 1;
  if ((bits & 0b1_1000) !== 0) return undefined;
  return { shift: (bits & 1) !== 0, alt: (bits & 0b10_0010) !== 0, ctrl: (bits & 4) !== 0 };
}

function toNumber(digits: string): number {
  return digits === '' ? 1 : Math.min(Number(digits), mostNumber);
}

/** Keys that a terminal names by a number of its own (kitty's protocol) or by what they once sent. */
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

/** What a terminal sends as the number of a character and modifiers. Nothing where it is no key that writ knows. */
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

/** A character that can be printed; what is for private use is a key without a name. */
function charOf(code: number): string | undefined {
  if (code > 0x10_ffff) return undefined;
  const char = String.fromCodePoint(code);
  return /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u.test(char) ? undefined : char;
}
