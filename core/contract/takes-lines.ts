import type { PatchFile } from './patch-set.ts';

/** Whether a patch takes something from a file of the base: it does not if it only adds lines, or a file. Pure. */
export function takesLines({ changeType, linesDeleted, binary }: PatchFile): boolean {
  if (changeType === 'add' || changeType === 'copy') return false;
  return linesDeleted > 0 || binary || changeType !== 'modify';
}
