import { charKey, type Key, type KeyName, keyOf, type Modifiers } from './key.ts';

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
export function codeKey(code: number, modifiers: Modifiers, shifted = code): Key | undefined {
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
