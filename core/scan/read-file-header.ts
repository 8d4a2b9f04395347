import type { ChangeType, PatchFile } from '../contract/patch-set.ts';
import { readSections } from '../patch/read-sections.ts';

const maxHeaderBytes = 64 * 1024;

/** One file of a diff, as its section's header says: no blob, no tree behind it. Line counts are not known. */
export function readFileHeader(section: Buffer): Omit<PatchFile, 'start' | 'end'> {
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
