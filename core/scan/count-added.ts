import type { PatchFile } from '../contract/patch-set.ts';
import { hunkLines } from '../patch/hunk-lines.ts';
import type { LineMarks } from './mark-lines.ts';

const hunkHeader = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Added lines of files of a diff, files in order. A hunk that holds as many lines as its header says is not walked; a file with any other is,
 * line by line.
 */
export function countAdded(
  diff: Uint8Array,
  files: readonly Pick<PatchFile, 'start' | 'end' | 'binary'>[],
  marks: LineMarks,
): number {
  let count = 0;
  let at = 0;
  for (const file of files) {
    if (file.binary) continue;
    while (at < marks.length - 4 && (marks[at] as number) <= file.start) at += 4;
    count += countInHunks(diff, file, marks, at) ?? countByLine(diff, file);
  }
  return count;
}

/** `undefined` where lines have to be looked at. `at` is the place of the first mark behind the file's first line. */
function countInHunks(
  diff: Uint8Array,
  { end }: Pick<PatchFile, 'end'>,
  marks: LineMarks,
  at: number,
): number | undefined {
  const text = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  let added = 0;
  let hunk: { readonly at: number; readonly old: number; readonly new: number } | undefined;
  for (let next = at; ; next += 4) {
    const line = marks[next] as number;
    const isEnd = line >= end;
    // Another file begins where this one ends, or nothing does.
    if (isEnd && line !== end) return undefined;
    const header = isEnd ? null : hunkHeader.exec(text.toString('latin1', line, Math.min(end, line + 80)));
    if (!isEnd && !header) continue;
    if (hunk) {
      const plus = (marks[next + 1] as number) - (marks[hunk.at + 1] as number);
      const minus = (marks[next + 2] as number) - (marks[hunk.at + 2] as number);
      const same = (marks[next + 3] as number) - (marks[hunk.at + 3] as number);
      if (plus + same !== hunk.new || minus + same !== hunk.old) return undefined;
      added += plus;
    }
    if (!header) return added;
    hunk = { at: next, old: Number(header[1] ?? 1), new: Number(header[2] ?? 1) };
  }
}

function countByLine(diff: Uint8Array, file: Pick<PatchFile, 'start' | 'end'>): number {
  let added = 0;
  for (const { kind } of hunkLines(diff, file)) if (kind === 'added') added += 1;
  return added;
}
