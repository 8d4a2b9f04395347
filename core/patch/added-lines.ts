import type { PatchFile } from '../contract/patch-set.ts';

/** One added line: its number in the candidate (from 1) and its bytes `diff[start, end)`, without `+` and newline. */
export interface AddedLine {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

const lineFeed = 10;
const plus = 43;
const minus = 45;
const blank = 32;
const at = 64;
const maxHeaderBytes = 100;

/** The added lines of one file, in order. Nothing for binary files, pure renames and deletions. Reads bytes in place; copies none. */
export function* addedLines(diff: Uint8Array, file: Pick<PatchFile, 'start' | 'end'>): Generator<AddedLine> {
  let cursor = file.start;
  let line = 0;
  let oldLeft = 0;
  let newLeft = 0;
  while (cursor < file.end) {
    const found = diff.indexOf(lineFeed, cursor);
    const end = found < 0 || found > file.end ? file.end : found;
    const kind = diff[cursor];
    if (oldLeft > 0 || newLeft > 0) {
      if (kind === plus) {
        yield { line, start: cursor + 1, end };
        line += 1;
        newLeft -= 1;
      } else if (kind === minus) oldLeft -= 1;
      else if (kind === blank) {
        line += 1;
        oldLeft -= 1;
        newLeft -= 1;
      }
    } else if (kind === at) {
      const header = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(
        latin1(diff, cursor, Math.min(end, cursor + maxHeaderBytes)),
      );
      if (header) {
        oldLeft = Number(header[1] ?? 1);
        line = Number(header[2]);
        newLeft = Number(header[3] ?? 1);
      }
    }
    cursor = end + 1;
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let index = start; index < end; index += 1) text += String.fromCharCode(bytes[index] ?? 0);
  return text;
}
