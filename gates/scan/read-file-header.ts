/* Reads the header of a file in a diff. */
import type { ChangeType, PatchFile } from '../../core/interfaces/patch-set.ts';
import { readSections } from '../../readers/diff/read-sections.ts';

const maxHeaderBytes = 64 * 1024;

/** What most headers are: a plain name, new or changed, with hunks. */
const plain =
  /^diff --git a\/([!#-[\]-~]{1,250}) b\/\1\n(?:new file mode (\d{6})\nindex [0-9a-f]{7,64}\.\.[0-9a-f]{7,64}\n--- \/dev\/null|index [0-9a-f]{7,64}\.\.[0-9a-f]{7,64}(?: (\d{6}))?\n--- a\/\1)\n\+\+\+ b\/\1\n@@ -/;
const plainBytes = 1300;
/** Enough for most: text is made of every header. */
const shortBytes = 400;

/** Returns the file of a diff section from its header, without blobs or a tree. Line counts are unknown. */
export function readFileHeader(diff: Buffer, start: number, end: number): PatchFile {
  const head = (most: number): string => diff.toString('latin1', start, Math.min(end, start + most));
  const found = plain.exec(head(shortBytes)) ?? plain.exec(head(plainBytes));
  if (!found) return { ...readHeaderSection(diff.subarray(start, end)), start, end };
  const [, path = '', newMode, sameMode] = found;
  const mode = newMode ?? sameMode;
  return {
    path,
    changeType: newMode === undefined ? 'modify' : 'add',
    ...(mode === undefined ? {} : { newMode: mode }),
    binary: false,
    linesAdded: 0,
    linesDeleted: 0,
    start,
    end,
  };
}

function readHeaderSection(section: Buffer): Omit<PatchFile, 'start' | 'end'> {
  const header = headerOf(section);
  const text = header.toString('latin1');
  const [found] = readSections(header);
  const [first, second] = found?.plainNames ?? [];
  const oldName = first ?? withoutPrefix(found?.oldName);
  const newName = second ?? withoutPrefix(found?.newName);
  const path = newName ?? oldName ?? '';
  const changeType = changeTypeOf(text);
  const isPair = changeType === 'rename' || changeType === 'copy';
  const newMode =
    /^(?:new file mode|new mode) (\d{6})$/m.exec(text)?.[1] ?? /^index \S+ (\d{6})$/m.exec(text)?.[1];
  return {
    path,
    ...(isPair && oldName !== undefined ? { oldPath: oldName } : {}),
    changeType,
    ...(newMode === undefined ? {} : { newMode }),
    binary: /^(?:Binary files .* differ|GIT binary patch)$/m.test(text),
    linesAdded: 0,
    linesDeleted: 0,
  };
}

/** Up to the first hunk, bounded. */
function headerOf(section: Buffer): Buffer {
  const bounded = section.subarray(0, maxHeaderBytes);
  const hunk = bounded.indexOf('\n@@ -');
  return hunk < 0 ? bounded : bounded.subarray(0, hunk + 1);
}

function changeTypeOf(header: string): ChangeType {
  if (/^new file mode /m.test(header)) return 'add';
  if (/^deleted file mode /m.test(header)) return 'delete';
  if (/^rename to /m.test(header)) return 'rename';
  if (/^copy to /m.test(header)) return 'copy';
  return 'modify';
}

/** `a/` and `b/` as git writes them, and the letters of `diff.mnemonicPrefix`. */
function withoutPrefix(name: string | undefined): string | undefined {
  return name?.replace(/^[abciow]\//, '');
}
