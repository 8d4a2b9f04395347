import type { PatchFile } from '../../core/contract/patch-set.ts';

const feed = 10;

/**
 * The first byte (`+`, `-`, a blank) of the line on which an offset of a file's part of the diff stands; each line is
 * looked for once.
 */
export function lineMarks(
  bytes: Uint8Array,
  { start, end }: Pick<PatchFile, 'start' | 'end'>,
): (offset: number) => number | undefined {
  const diff = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = start;
  let to = start;
  return (offset) => {
    if (offset >= to || offset < from) {
      from = offset > start ? Math.max(start, diff.lastIndexOf(feed, offset - 1) + 1) : start;
      const next = diff.indexOf(feed, offset);
      to = next < 0 || next >= end ? end : next + 1;
    }
    return diff[from];
  };
}
