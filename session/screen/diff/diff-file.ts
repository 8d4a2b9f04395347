/** A piece of a line, from one character (UTF-16) to before another. */
export interface Mark {
  readonly from: number;
  readonly to: number;
}

/** One line of a hunk. */
export interface DiffLine {
  readonly kind: 'context' | 'added' | 'removed';
  /** Numbers from 1, where the hunk says where it is. */
  readonly oldNumber?: number;
  readonly newNumber?: number;
  /** Without its sign; safe to be shown. */
  readonly text: string;
  /** What is other than in the line that it takes the place of, or that takes its place. */
  readonly marks: readonly Mark[];
  /** The last of its file, and no line end behind it. */
  readonly isUnended?: true;
}

export interface Hunk {
  /** Where it is, in words: the function, or what the line with `@@` says. Often empty. */
  readonly title: string;
  readonly oldStart?: number;
  readonly newStart?: number;
  readonly lines: readonly DiffLine[];
}

/** What a diff does to one file. */
export interface DiffFile {
  readonly path: string;
  /** Where it was before. */
  readonly from?: string;
  readonly change: 'add' | 'modify' | 'delete' | 'rename';
  readonly added: number;
  readonly removed: number;
  /** What else the diff says of it: modes, that it is binary, lines that belong nowhere. */
  readonly notes: readonly string[];
  readonly hunks: readonly Hunk[];
}
