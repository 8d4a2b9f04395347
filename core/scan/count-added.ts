import type { PatchFile } from '../contract/patch-set.ts';
import { hunkLines } from '../patch/hunk-lines.ts';

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const hunkHeader = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Added lines of files of a diff. Line feeds are looked for in four bytes at a time: this is asked of every byte of every scan. */
export function countAdded(
  diff: Uint8Array,
  files: readonly Pick<PatchFile, 'start' | 'end' | 'binary'>[],
): number {
  let count = 0;
  const words =
    isLittleEndian && diff.byteOffset % 4 === 0
      ? new Int32Array(diff.buffer, diff.byteOffset, diff.length >> 2)
      : undefined;
  for (const file of files) {
    if (file.binary) continue;
    if (words) count += countInWords(words, diff, file.start, file.end);
    else for (const { kind } of hunkLines(diff, file)) if (kind === 'added') count += 1;
  }
  return count;
}

function countInWords(words: Int32Array, diff: Uint8Array, start: number, end: number): number {
  const lastWord = Math.min(words.length, end >> 2);
  let added = 0;
  let oldLeft = 0;
  let newLeft = 0;
  // The line that begins at `start` is a file's header; what stands before it in its word is not ours.
  let mask = -1 << ((start & 3) * 8);
  for (let at = start >> 2; at <= lastWord; at += 1) {
    const isWhole = at < lastWord;
    const bytes = isWhole ? (words[at] as number) ^ 0x0a0a0a0a : lastBytes(diff, at * 4, end);
    // Exact for the lowest zero byte; a byte of 1 right above one is seen too, so every place is looked at.
    let zeros = (bytes - 0x01010101) & ~bytes & 0x80808080 & mask;
    mask = -1;
    for (; zeros !== 0; zeros &= zeros - 1) {
      const line = at * 4 + ((31 - Math.clz32(zeros & -zeros)) >> 3) + 1;
      if (line >= end || diff[line - 1] !== 10) continue;
      const first = diff[line];
      if (oldLeft <= 0 && newLeft <= 0) {
        if (first !== 64) continue;
        const header = hunkHeader.exec(latin1(diff, line, Math.min(end, line + 80)));
        oldLeft = header ? Number(header[1] ?? 1) : 0;
        newLeft = header ? Number(header[2] ?? 1) : 0;
      } else if (first === 43) {
        added += 1;
        newLeft -= 1;
      } else if (first === 45) oldLeft -= 1;
      else if (first === 32 || first === 10) {
        oldLeft -= 1;
        newLeft -= 1;
      }
    }
  }
  return added;
}

/** What is left behind the last whole word, as a word without line feeds. */
function lastBytes(diff: Uint8Array, from: number, end: number): number {
  let bytes = -1;
  for (let at = from; at < end && at < from + 4; at += 1)
    if (diff[at] === 10) bytes &= ~(0xff << ((at - from) * 8));
  return bytes;
}

function latin1(diff: Uint8Array, from: number, to: number): string {
  return Buffer.from(diff.buffer, diff.byteOffset + from, to - from).toString('latin1');
}
