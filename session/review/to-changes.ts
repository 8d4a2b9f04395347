import { type CutHunk, type CutSection, cutPatch } from '../../workspace/patch/hunks.ts';
import type { SessionChange } from '../state/work.ts';

/** Octets of diff that a session tells of one file, and of one patchset. */
const most = { file: 64 * 1024, patchset: 256 * 1024 } as const;

/**
 * A patch as a session tells it: of each file its unified diff, cut behind a whole hunk where it is long, and the ids
 * by which its hunks are reviewed, in the order of the diff. Files that `files` names and the patch does not are told
 * without.
 */
export function toChanges(
  files: readonly { readonly path: string; readonly changeType: string }[],
  diff: Buffer | undefined,
): readonly SessionChange[] {
  const sections = new Map<string, CutSection[]>();
  for (const section of diff === undefined ? [] : cutPatch(diff))
    sections.set(section.path, [...(sections.get(section.path) ?? []), section]);
  let left: number = most.patchset;
  return files.map(({ path, changeType }) => {
    const told = toldOf(sections.get(path) ?? [], Math.min(most.file, left));
    left -= told.diff?.length ?? 0;
    return { path, changeType, ...told };
  });
}

function toldOf(
  sections: readonly CutSection[],
  limit: number,
): Pick<SessionChange, 'diff' | 'hunks' | 'unshown'> {
  const hunks: { id: string; header: string }[] = [];
  let diff = '';
  let unshown = 0;
  for (const { head, hunks: cut, id } of sections) {
    if (cut.length === 0) hunks.push({ id, header: wholeFile });
    let isBegun = false;
    for (const hunk of cut) {
      const text = `${isBegun ? '' : namesIn(head)}${headerOf(hunk)}\n${hunk.body.toString('utf8')}`;
      if (unshown > 0 || diff.length + text.length > limit) unshown += 1;
      else {
        diff += text;
        hunks.push({ id: hunk.id, header: headerOf(hunk) });
        isBegun = true;
      }
    }
  }
  return {
    ...(diff === '' ? {} : { diff }),
    ...(hunks.length === 0 ? {} : { hunks }),
    ...(unshown === 0 ? {} : { unshown }),
  };
}

/** Stands where nothing of a change can be told apart: binary, a rename alone, a mode. */
const wholeFile = 'whole file';

/** The lines `---` and `+++`: what plain unified readers need. */
function namesIn(head: Buffer): string {
  const text = head.toString('utf8');
  return text.slice(text.indexOf('\n--- ') + 1);
}

function headerOf({ header, rest }: CutHunk): string {
  const { oldLine, oldCount, newLine, newCount } = header;
  const about = rest.toString('utf8').trimEnd();
  return `@@ -${oldLine},${oldCount} +${newLine},${newCount} @@${about}`;
}
