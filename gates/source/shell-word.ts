/** One word of a shell command, quotes removed. */
export interface ShellWord {
  readonly text: string;
  readonly start: number;
  /** First word of a simple command, assignments skipped. */
  readonly isCommand: boolean;
  /** Holds an expansion: the word is not known before it runs. */
  readonly isDynamic: boolean;
  /** Set on the first word of a command that reads from a pipe. */
  readonly afterPipe: boolean;
  /** The next thing on the line is a further word of the same command. */
  readonly hasNext: boolean;
}

/** A word while it is read. */
export type DraftWord = { -readonly [Field in keyof ShellWord]: ShellWord[Field] };

const maxText = 200;

/** An empty word. */
export function newWord(start: number, afterPipe = false): DraftWord {
  return { text: '', start, isCommand: false, isDynamic: false, afterPipe, hasNext: false };
}

/** Adds a character; what is longer than 200 is cut. */
export function appendTo(word: DraftWord, char: string): void {
  if (word.text.length < maxText) word.text += char;
}
