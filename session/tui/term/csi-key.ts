import { codeKey } from './code-key.ts';
import { type Key, type KeyName, keyOf, type Modifiers, unmodified } from './key.ts';

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
export function csiKey(parameters: string, final: string): Key | undefined {
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
export function ss3Key(parameters: string, final: string): Key | undefined {
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
