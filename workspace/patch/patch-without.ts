import type { HunkHeader } from '../../readers/diff/read-sections.ts';
import { type CutHunk, cutPatch } from './cut-patch.ts';

/**
 * A patch without hunks, by their ids: what is left applies to the same base. A file of which nothing is left is not
 * touched: neither renamed nor made. Empty where nothing at all is left.
 */
export function patchWithout(diff: Buffer, rejected: ReadonlySet<string>): Buffer {
  const parts: Buffer[] = [];
  for (const { head, hunks, id } of cutPatch(diff)) {
    const left = withNumbers(hunks, rejected);
    if (hunks.length === 0 ? rejected.has(id) : left.length === 0) continue;
    parts.push(head, ...left);
  }
  return Buffer.concat(parts);
}

/** git looks for a hunk where its new side is said to be: the lines of those before it that are gone count no more. */
function withNumbers(hunks: readonly CutHunk[], rejected: ReadonlySet<string>): readonly Buffer[] {
  const left: Buffer[] = [];
  let gone = 0;
  for (const { id, header, rest, body } of hunks) {
    const { oldCount, newCount, newLine } = header;
    if (rejected.has(id)) gone += newCount - oldCount;
    else left.push(headerLine({ ...header, newLine: newLine - gone }), rest, body);
  }
  return left;
}

function headerLine({ oldLine, oldCount, newLine, newCount }: HunkHeader): Buffer {
  return Buffer.from(`@@ -${oldLine},${oldCount} +${newLine},${newCount} @@`);
}
