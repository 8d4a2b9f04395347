/**
 * `text`: content whose encoding the format gives; `key`: the same, as the name of a member. `raw`: content that stands
 * for itself. `bare`: a value without quotes. `frame`: what makes the format, never touched.
 */
export type PieceKind = 'text' | 'key' | 'bare' | 'raw' | 'frame';

/** Where a piece stands. Handed to each visit anew filled: what has to outlive it is copied. */
export interface Field {
  /** Name of the member, attribute or element whose value it is; empty for none. A member of a list has the list's. */
  name: string;
  /** The same of what holds it. */
  holder: string;
  /** How many things are open around it. */
  depth: number;
}

export type Visit = (kind: PieceKind, start: number, end: number, field: Field) => void;

/** How a format is cut into content and what holds it together. */
export interface Structure {
  /**
   * Visits every byte once, in order. False where the text is not strictly of this format, or nested deeper than
   * `maxDepth`; visits may have happened by then.
   */
  walk(text: string, visit: Visit): boolean;
  /** Without it a `text` piece is what it stands for. */
  readonly escape: string;
  /** Each escape of a `text` piece, global. */
  readonly escapes: RegExp;
  /** What one match of `escapes` stands for; `undefined` where nothing is meant by it. */
  decode(one: string): string | undefined;
  /** Whether `escape` may stand in a piece without being one. */
  readonly isLoose: boolean;
  /** What stands in the place of a `bare` piece. */
  bare(mark: string): string;
}

/** Deeper documents are read as text. */
export const maxDepth = 512;
/** Names of members that are longer say nothing about a field. */
export const maxName = 128;
