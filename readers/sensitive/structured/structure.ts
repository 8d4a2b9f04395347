/**
 * `text`: content whose encoding the format gives. `bare`: a value without quotes. `frame`: what makes the format,
 * never touched.
 */
export type PieceKind = 'text' | 'bare' | 'raw' | 'frame';

/** How a format is cut into content and what holds it together. */
export interface Structure {
  /** Visits every byte once, in order. False where the text is not of this format; visits may have happened by then. */
  walk(text: string, visit: (kind: PieceKind, start: number, end: number) => void): boolean;
  /** Without it a `text` piece is what it stands for. */
  readonly escape: string;
  /** UTF-8 bytes of a `text` piece, its escapes resolved; `undefined` where it has an escape that does not exist. */
  decode(piece: string): Buffer | undefined;
  /** A `text` piece that decodes to these bytes. */
  encode(content: Buffer): Buffer;
  /** What stands in the place of a `bare` piece. */
  bare(mark: string): string;
}
