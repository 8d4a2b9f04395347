import type { Job, Jobs } from './count-work.ts';

/**
 * A job for each piece of hostile text: what is done with the piece repeated to the size. A piece may be a function
 * that makes the text of a size.
 */
export function ofPieces(
  name: string,
  pieces: readonly (string | ((size: number) => string))[],
  work: (text: string) => unknown,
  more: Partial<Job> = {},
): Jobs {
  return Object.fromEntries(
    pieces.map((piece) => {
      const make = typeof piece === 'string' ? (size: number) => repeated(piece, size) : piece;
      const prepare = (size: number) => {
        const text = make(size);
        return () => work(text);
      };
      return [`${name}: ${JSON.stringify(make(40).slice(0, 40))}`, { prepare, ...more }];
    }),
  );
}

export function repeated(piece: string, size: number): string {
  return piece.repeat(Math.max(1, Math.floor(size / piece.length)));
}
