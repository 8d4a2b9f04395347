import type { PatchFile } from '../../core/contract/patch-set.ts';
import { readHunkHeader } from './hunk-header.ts';

/** One line of a hunk; `start` and `end` are offsets in the diff, without mark and line feed. */
export interface HunkLine {
  readonly kind: 'added' | 'context' | 'removed';
  /** From 1, on the side where the line stands: the candidate's for added and context lines, else the base's. */
  readonly line: number;
  /** Counts hunks from 0: lines of different hunks are not neighbours. */
  readonly hunk: number;
  readonly start: number;
  readonly end: number;
}

const lineFeed = 10;
const at = 64;
const plus = 43;
const minus = 45;
const space = 32;

/**
 * Every line of the hunks of one changed file, in order. Lines are taken by the counts of the hunk header, so content
 * that looks like a header is content. A file without hunks (binary, mode only) yields nothing.
 */
export function* hunkLines(bytes: Uint8Array, file: Pick<PatchFile, 'start' | 'end'>): Generator<HunkLine> {
  const diff = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let hunk = -1;
  let oldLine = 0;
  let newLine = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (let start = file.start; start < file.end; ) {
    const feed = diff.indexOf(lineFeed, start);
    const end = feed === -1 || feed >= file.end ? file.end : feed;
    const mark = diff[start];
    if (oldLeft <= 0 && newLeft <= 0) {
      const header = mark === at ? readHunkHeader(diff, start, end) : undefined;
      if (header) {
        hunk += 1;
        ({ oldLine, oldCount: oldLeft, newLine, newCount: newLeft } = header);
      }
    } else if (mark === plus) {
      yield { kind: 'added', line: newLine++, hunk, start: start + 1, end };
      newLeft -= 1;
    } else if (mark === minus) {
      yield { kind: 'removed', line: oldLine++, hunk, start: start + 1, end };
      oldLeft -= 1;
    } else if (mark === space || start === end) {
      yield { kind: 'context', line: newLine++, hunk, start: Math.min(start + 1, end), end };
      oldLine += 1;
      oldLeft -= 1;
      newLeft -= 1;
    }
    start = end + 1;
  }
}
