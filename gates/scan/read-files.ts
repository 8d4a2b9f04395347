import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { LineMarks } from './mark-lines.ts';
import { readFileHeader } from './read-file-header.ts';

const start = Buffer.from('diff --git ');

/** The files of a diff that begins with one's header, as all their headers say. */
export function readFiles(diff: Uint8Array, marks: LineMarks): readonly PatchFile[] {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const files: PatchFile[] = [];
  let from = 0;
  for (let at = 0; at < marks.length; at += 4) {
    const line = marks[at] as number;
    const isLast = at === marks.length - 4;
    if (
      !isLast &&
      (bytes[line] !== start[0] || bytes.compare(start, 0, start.length, line, line + start.length) !== 0)
    )
      continue;
    if (line > from) files.push(readFileHeader(bytes, from, line));
    from = line;
  }
  return files;
}
