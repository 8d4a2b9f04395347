/** What a person did at a terminal. */
export type Key =
  /** Printable text, as long as it came in one piece; holds no control characters. */
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

export const unmodified: Modifiers = { ctrl: false, alt: false, shift: false };

export function keyOf(name: KeyName, modifiers: Partial<Modifiers> = {}): Key {
  return { type: 'key', name, ...unmodified, ...modifiers };
}

/** A letter or sign with `ctrl` or `alt`. */
export function charKey(char: string, modifiers: Partial<Modifiers>): Key {
  const small = char.toLowerCase();
  const letter = [...small].length === 1 ? small : char;
  return keyOf(`char:${letter}`, letter === char ? modifiers : { ...modifiers, shift: true });
}
