import { WritError } from '../../core/base/errors.ts';
import type { ChangeType, PatchFile } from '../../core/contract/patch-set.ts';

/** A PatchFile without its place in the diff. `sections`: how many `diff --git` sections it takes there. */
type Change = Omit<PatchFile, 'start' | 'end'> & { readonly sections: number };

/**
 * Reads `git diff-tree -r -z --raw --numstat`: first all raw records, then all counts, both in the order of the diff.
 */
export function parseChanges(listed: Buffer): readonly Change[] {
  const fields = listed.toString('utf8').split('\0');
  const changes: Change[] = [];
  let at = 0;
  while (fields[at]?.startsWith(':')) {
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', status = ''] = (fields[at] ?? '')
      .slice(1)
      .split(' ');
    const isPair = status.startsWith('R') || status.startsWith('C');
    const first = fields[at + 1];
    const path = isPair ? fields[at + 2] : first;
    if (first === undefined || path === undefined) throw unreadable();
    changes.push({
      path,
      ...(isPair ? { oldPath: first } : {}),
      changeType: changeTypeOf(status, oldBlob === newBlob),
      ...(status === 'A' ? {} : { oldMode, oldBlob }),
      ...(status === 'D' ? {} : { newMode, newBlob }),
      binary: false,
      linesAdded: 0,
      linesDeleted: 0,
      sections: status === 'T' ? 2 : 1,
    });
    at += isPair ? 3 : 2;
  }
  for (const [index, change] of changes.entries()) {
    const counts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at] ?? '');
    if (!counts) throw unreadable();
    // Names of a pair stand in two fields of their own behind empty text.
    at += counts[3] === '' ? 3 : 1;
    const binary = counts[1] === '-';
    changes[index] = {
      ...change,
      binary,
      linesAdded: binary ? 0 : Number(counts[1]),
      linesDeleted: binary ? 0 : Number(counts[2]),
    };
  }
  if (fields.slice(at).some((field) => field !== '')) throw unreadable();
  return changes;
}

/**
 * Gives each change its byte range in the diff. No content line can begin with `diff --git `: hunk lines begin with a
 * blank, sign or backslash, and git's base 85 has no blank.
 */
export function withRanges(changes: readonly Change[], diff: Buffer): readonly PatchFile[] {
  const starts: number[] = [];
  const header = Buffer.from('\ndiff --git ');
  if (diff.subarray(0, header.length - 1).equals(header.subarray(1))) starts.push(0);
  for (let at = diff.indexOf(header); at >= 0; at = diff.indexOf(header, at + 1)) starts.push(at + 1);
  let next = 0;
  const files = changes.map(({ sections, ...change }) => {
    const start = starts[next];
    if (start === undefined) throw unreadable();
    next += sections;
    return { ...change, start, end: starts[next] ?? diff.length };
  });
  if (next !== starts.length) throw unreadable();
  return files;
}

function changeTypeOf(status: string, isSameContent: boolean): ChangeType {
  switch (status[0]) {
    case 'A':
      return 'add';
    case 'D':
      return 'delete';
    case 'R':
      return 'rename';
    case 'C':
      return 'copy';
    default:
      return isSameContent ? 'mode' : 'modify';
  }
}

function unreadable(): WritError {
  return new WritError('GIT_FAILED', {
    message: '`git diff-tree` answered in an unknown form',
    detail: { command: 'diff-tree' },
  });
}
