import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { runGit } from '../git/git.ts';
import type { Repository } from '../git/repository.ts';
import { treeOf } from '../git/resolve-commit.ts';
import type { Scratch } from '../git/scratch.ts';
import { normalisePatch } from './normalise.ts';
import { inUndoScratch } from './patch-undoing.ts';

/** A candidate: a tree on a base commit. */
export interface BasedCandidate {
  readonly baseCommit: string;
  readonly tree: string;
}

/** How the canonical patches of two candidates differ. */
export interface PatchComparison {
  /**
   * `same`: octet by octet. `placed`: in blob ids and line numbers alone. `large`: too large to be compared line by
   * line.
   */
  readonly state: 'same' | 'placed' | 'changed' | 'large';
  /** A diff of both patches without its header, if `changed`; untrusted text. */
  readonly lines: readonly string[];
}

const maxPatchBytes = 4 * 1024 * 1024;

/** Compares the canonical patches of two candidates. GIT_FAILED if objects are missing. */
export async function comparePatches(
  repository: Repository,
  before: BasedCandidate,
  now: BasedCandidate,
): Promise<PatchComparison> {
  return inUndoScratch(repository, async (scratch) => {
    const [old, current] = [await patchOf(scratch, before), await patchOf(scratch, now)];
    if (old.digest === current.digest) return { state: 'same', lines: [] };
    if (Math.max(old.diff.byteLength, current.diff.byteLength) > maxPatchBytes)
      return { state: 'large', lines: [] };
    const texts = [withoutPlaces(old), withoutPlaces(current)] as const;
    if (texts[0].equals(texts[1])) return { state: 'placed', lines: [] };
    const blobs: string[] = [];
    for (const input of texts)
      blobs.push((await runGit(scratch, ['hash-object', '-w', '--stdin'], { input })).toString().trim());
    const flags = ['--no-color', '--no-ext-diff', '--no-textconv', '--text', '--unified=3'];
    const diff = await runGit(scratch, ['diff', ...flags, '--end-of-options', ...blobs], {
      maxBytes: 4 * maxPatchBytes,
    });
    const lines = diff.toString('utf8').replace(/\n$/, '').split('\n');
    return { state: 'changed', lines: lines.slice(lines.findIndex((line) => line.startsWith('@@'))) };
  });
}

async function patchOf(scratch: Scratch, { baseCommit, tree }: BasedCandidate): Promise<PatchSet> {
  return normalisePatch(scratch, { commit: baseCommit, tree: await treeOf(scratch, baseCommit) }, tree);
}

/** The patch without what depends on the place of a hunk: blob ids and line numbers. */
function withoutPlaces({ diff }: PatchSet): Buffer {
  const text = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength).toString('latin1');
  const plain = text
    .replace(/^index [0-9a-f]+\.\.[0-9a-f]+/gm, 'index')
    .replace(/^@@ -[0-9,]+ \+[0-9,]+ @@/gm, '@@');
  return Buffer.from(plain, 'latin1');
}
