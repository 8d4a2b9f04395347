import type { PatchFile } from '../../core/contract/patch-set.ts';
import { readHunkHeader } from '../../readers/diff/hunk-header.ts';
import type { LineMarks } from './mark-lines.ts';

/** Hunks of a file as its line marks bound them, each as long as its header says. */
export interface MarkedHunks {
  readonly hunks: number;
  readonly added: number;
  /** Marked lines before the first hunk, and between hunks or behind them, that head no hunk. */
  readonly before: readonly number[];
  readonly between: number;
}

/** The hunks of every file, in order: `undefined` for those that marks alone do not tell, and for binary ones. */
export function measureFiles(
  diff: Uint8Array,
  files: readonly Pick<PatchFile, 'start' | 'end' | 'binary'>[],
  marks: LineMarks,
): readonly (MarkedHunks | undefined)[] {
  let at = 0;
  return files.map((file) => {
    if (file.binary) return undefined;
    while (at < marks.length - 4 && (marks[at] as number) <= file.start) at += 4;
    return measureHunks(diff, file, marks, at);
  });
}

/**
 * Measures the hunks of one file by marks alone, without looking at their lines; `from` is the place of the first mark
 * behind the file's first line. `undefined` where that cannot be: a hunk of another length than its header says, or an
 * end that is no mark.
 */
function measureHunks(
  diff: Uint8Array,
  { end }: Pick<PatchFile, 'end'>,
  marks: LineMarks,
  from: number,
): MarkedHunks | undefined {
  const before: number[] = [];
  let [hunks, added, between] = [0, 0, 0];
  let open: { readonly at: number; readonly old: number; readonly new: number } | undefined;
  for (let at = from; ; at += 4) {
    const line = marks[at] as number;
    const isEnd = line >= end;
    // Another file begins where this one ends, or nothing does.
    if (isEnd && line !== end) return undefined;
    const header = isEnd ? undefined : readHunkHeader(diff, line, end);
    if (!isEnd && header === undefined) {
      if (open) between += 1;
      else before.push(line);
      continue;
    }
    if (open) {
      const plus = (marks[at + 1] as number) - (marks[open.at + 1] as number);
      const minus = (marks[at + 2] as number) - (marks[open.at + 2] as number);
      const same = (marks[at + 3] as number) - (marks[open.at + 3] as number);
      if (plus + same !== open.new || minus + same !== open.old) return undefined;
      added += plus;
    }
    if (header === undefined) return { hunks, added, before, between };
    hunks += 1;
    open = { at, old: header.oldCount, new: header.newCount };
  }
}
