/* Undoes earlier changes by three-way merges, and compares the patches of two candidates. */
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import { type MergeOutcome, mergeTrees } from '../git/create-commit.ts';
import { runGit } from '../git/git.ts';
import type { Repository } from '../git/repository.ts';
import { type Base, parentTree, treeOf } from '../git/resolve-commit.ts';
import { createScratch, inTemporaryDirectory, type Scratch } from '../git/scratch.ts';
import { normalisePatch } from './normalise.ts';

/** A patch that undoes a change, or the paths at which later changes conflict. */
export type Undoing =
  | { readonly bytes: Buffer; readonly files: readonly PatchFile[]; readonly conflicts?: undefined }
  | { readonly bytes?: undefined; readonly conflicts: readonly string[] };

/** The trees before and after the undone change. */
interface UndoneStep {
  readonly before: string;
  readonly after: string;
}

/** Runs `act` with a temporary scratch over the repository. */
export function inUndoScratch<T>(repository: Repository, act: (scratch: Scratch) => Promise<T>): Promise<T> {
  return inTemporaryDirectory('undo', async (directory) =>
    act(await createScratch(join(directory, 'scratch'), repository)),
  );
}

/** Undoes the steps in a tree, the last one first, each by a three-way merge. */
export async function treeWithout(
  scratch: Scratch,
  steps: readonly UndoneStep[],
  tree: string,
): Promise<MergeOutcome> {
  let left = tree;
  for (const { before, after } of steps.toReversed()) {
    const merged = await mergeTrees(scratch, after, left, before);
    if (merged.conflicts !== undefined) return merged;
    left = merged.tree;
  }
  return { tree: left };
}

/**
 * The patch that undoes these steps at `tip` and keeps later changes elsewhere. `undefined` if `tip` no longer
 * contains any part of them.
 */
export async function stepsUndoing(
  scratch: Scratch,
  steps: readonly UndoneStep[],
  tip: Base,
): Promise<Undoing | undefined> {
  const { tree, conflicts } = await treeWithout(scratch, steps, tip.tree);
  if (conflicts !== undefined) return { conflicts };
  if (tree === tip.tree) return undefined;
  const { diff, files } = await normalisePatch(scratch, tip, tree);
  return { bytes: Buffer.from(diff), files };
}

/** `stepsUndoing` for one commit, read from the commit itself. */
export async function patchUndoing(
  repository: Repository,
  commit: string,
  tip: Base,
): Promise<Undoing | undefined> {
  return inUndoScratch(repository, async (scratch) => {
    const [after, before] = await Promise.all([treeOf(repository, commit), parentTree(repository, commit)]);
    return stepsUndoing(scratch, [{ before, after }], tip);
  });
}

interface BasedCandidate {
  readonly baseCommit: string;
  readonly tree: string;
}

/** How the canonical patches of two candidates differ. */
export interface PatchComparison {
  /** `placed`: they differ only in blob ids and line numbers. `large`: too large for a comparison by line. */
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

/** The patch without blob ids and line numbers. */
function withoutPlaces({ diff }: PatchSet): Buffer {
  const text = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength).toString('latin1');
  const plain = text
    .replace(/^index [0-9a-f]+\.\.[0-9a-f]+/gm, 'index')
    .replace(/^@@ -[0-9,]+ \+[0-9,]+ @@/gm, '@@');
  return Buffer.from(plain, 'latin1');
}

/** The record of an attempt that changed nothing; a real candidate is never empty. */
export function emptyPatch(base: Base): PatchSet {
  return {
    digest: sha256Hex(new Uint8Array()),
    baseCommit: base.commit,
    baseTree: base.tree,
    candidateTree: base.tree,
    format: 'GitDiff',
    files: [],
    diff: new Uint8Array(new SharedArrayBuffer(0)),
  };
}
