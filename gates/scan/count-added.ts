import type { PatchFile } from '../../core/contract/patch-set.ts';
import { hunkLines } from '../../readers/diff/hunk-lines.ts';
import type { MarkedHunks } from './marked-hunks.ts';

/**
 * Added lines of files of a diff, files in order. A hunk that holds as many lines as its header says is not walked; a
 * file with any other is, line by line.
 */
export function countAdded(
  diff: Uint8Array,
  files: readonly Pick<PatchFile, 'start' | 'end' | 'binary'>[],
  measured: readonly (MarkedHunks | undefined)[],
): number {
  let count = 0;
  for (const [index, file] of files.entries())
    if (!file.binary) count += measured[index]?.added ?? countByLine(diff, file);
  return count;
}

function countByLine(diff: Uint8Array, file: Pick<PatchFile, 'start' | 'end'>): number {
  let added = 0;
  for (const { kind } of hunkLines(diff, file)) if (kind === 'added') added += 1;
  return added;
}
