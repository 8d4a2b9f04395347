/** What a person did at a terminal. */
export type Key =
  /** Printable text, as long as it came in one piece; holds no control characters. */
  | { readonly type: 'text'; readonly text: string }
  /** Pasted text: line ends are `\n`, other control characters are gone. Never a command by itself. */
  | { readonly type: 'paste'; readonly text: string }
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
  /** With `ctrl` or `alt`: which letter or sign. */
  | `char:${string}`;
