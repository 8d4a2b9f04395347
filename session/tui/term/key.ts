/* The keys of a terminal. */

export type Key =
  | { readonly type: 'text'; readonly text: string }
  /**
   * Pasted text: line ends are `\n`, a tab is four blanks, other control characters are gone. Never a command by
   * itself. `dropped` says how many octets were too many, where any were.
   */
  | { readonly type: 'paste'; readonly text: string; readonly dropped?: number }
  | {
      readonly type: 'key';
      readonly name: KeyName;
      readonly ctrl: boolean;
      readonly alt: boolean;
      readonly shift: boolean;
    };

export type KeyName =
  | 'enter'
  | 'escape'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  /** With `ctrl` or `alt`: which letter or sign. A letter is a small one; `shift` says that it was not. */
  | `char:${string}`;

export interface Modifiers {
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

const unmodified: Modifiers = { ctrl: false, alt: false, shift: false };

export function keyOf(name: KeyName, modifiers: Partial<Modifiers> = {}): Key {
  return { type: 'key', name, ...unmodified, ...modifiers };
}

export function charKey(char: string, modifiers: Partial<Modifiers>): Key {
  const small = char.toLowerCase();
  const letter = [...small].length === 1 ? small : char;
  return keyOf(`char:${letter}`, letter === char ? modifiers : { ...modifiers, shift: true });
}

export function controlKey(octet: number): Key | undefined {
  if (octet === 0x0d) return keyOf('enter');
  if (octet === 0x09) return keyOf('tab');
  if (octet === 0x08 || octet === 0x7f) return keyOf('backspace');
  if (octet === 0x1b) return keyOf('escape');
  if (octet === 0x00) return charKey(' ', { ctrl: true });
  // A small letter: Ctrl hides whether Shift was held.
  return octet < 0x20 ? charKey(String.fromCharCode(octet + 0x40).toLowerCase(), { ctrl: true }) : undefined;
}
