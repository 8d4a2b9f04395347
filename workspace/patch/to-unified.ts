import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Scratch } from '../git/scratch.ts';
import { diffWithoutRenames } from './normalise.ts';

const section = Buffer.from('\ndiff --git ');

/**
 * The patch in plain unified form (`objmodel.runPolicy.patchsetFormat: Unified`): `---`, `+++` and hunks, a rename as
 * removal and addition. What that form cannot say (binary, mode, symlink, empty file) stays a git section, so nothing
 * is lost.
 */
export async function toUnified(
  scratch: Scratch,
  patch: Pick<PatchSet, 'baseTree' | 'candidateTree'>,
): Promise<Buffer> {
  const shared = await diffWithoutRenames(scratch, patch.baseTree, patch.candidateTree);
  const diff = Buffer.from(shared.buffer);
  const parts: Buffer[] = [];
  // Behind a git section without hunks, `---` would be read as part of it: there the next one keeps its header.
  let isHeaderOpen = false;
  for (let start = 0; start < diff.length; ) {
    const next = diff.indexOf(section, start);
    const end = next < 0 ? diff.length : next + 1;
    const git = diff.subarray(start, end);
    const plain: Buffer | undefined = isHeaderOpen ? undefined : plainSection(git);
    parts.push(plain ?? git);
    isHeaderOpen = plain === undefined && !git.includes('\n@@ -');
    start = end;
  }
  return Buffer.concat(parts);
}

function plainSection(git: Buffer): Buffer | undefined {
  const header = git.indexOf('\n--- ');
  if (header < 0) return undefined;
  const isPlainFile = git
    .toString('latin1', 0, header)
    .split('\n')
    .slice(1)
    .every((line) => /^(?:index [0-9a-f.]+(?: 100644)?|(?:new|deleted) file mode 100644)$/.test(line));
  return isPlainFile ? git.subarray(header + 1) : undefined;
}
