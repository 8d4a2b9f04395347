import { hunkLines } from '../patch/hunk-lines.ts';
import type { DiffPiece } from '../scan/diff-piece.ts';

/** Added lines of a piece of a diff. */
export async function countAddedTask({ diff, files }: DiffPiece): Promise<number> {
  let count = 0;
  for (const file of files) for (const { kind } of hunkLines(diff, file)) if (kind === 'added') count += 1;
  return count;
}
