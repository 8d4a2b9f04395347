/* Makes the user's local changes part of a candidate (`--local-changes include`). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { mergeTrees } from './create-commit.ts';
import { type DirtyPath, dirtyFault, isIgnoredPath, refuseDirty } from './dirty-paths.ts';
import { type GitDirectory, runGit } from './git.ts';
import { changedEntries, type EntrySide, readIndex, toTextPath } from './held-index.ts';
import { readObjects } from './read-objects.ts';
import type { Repository } from './repository.ts';
import { type Scratch, writingTo } from './scratch.ts';
import { stuckPaths, writeLocalTrees } from './set-aside.ts';
import type { Target } from './target.ts';

type Side = EntrySide | undefined;

/** Local changes as content of a candidate. */
export interface IncludedChanges {
  /** The base tree with the content of the working tree at these paths. */
  readonly tree: string;
  readonly paths: readonly string[];
  /** SHA-256 over path, mode and git object of each path. */
  readonly digest: string;
}

/**
 * The content of the working tree at the dirty paths, over `base`, as objects in the scratch. The repository stays
 * unchanged. WORKTREE_DIRTY for paths that set-aside refuses too, for ignored files, and for content that is only
 * staged.
 */
export async function readLocalContent(
  repo: Repository,
  scratch: Scratch,
  base: string,
  target: Pick<Target, 'expected'>,
  dirty: readonly DirtyPath[],
): Promise<IncludedChanges> {
  const stuck = [...(await stuckPaths(repo, target, dirty))];
  for (const one of dirty)
    if (one.reason === 'untracked' && !stuck.includes(one) && (await isIgnoredPath(repo, one.path)))
      stuck.push(one);
  refuseDirty(stuck, {
    hints: ['writ cannot include these local changes: commit or stash them, then start or resume the run'],
  });
  const index = join(scratch.gitDir, `index.local-${randomOctets(8).toString('hex')}`);
  try {
    const place = writingTo(scratch, repo, { GIT_INDEX_FILE: index });
    const paths = dirty.map(({ path }) => path);
    const local = { base, paths, indexed: await readIndex(repo) };
    const { staged, worked: tree } = await writeLocalTrees(place, local, async (args, input) => {
      await runGit(place, args, { input: Buffer.from(input, 'latin1') });
    });
    await refuseStagedAlone(scratch, base, staged, tree);
    return { tree, ...(await describeLocal(scratch, base, tree)) };
  } finally {
    for (const path of [index, `${index}.lock`]) await rm(path, { force: true });
  }
}

/** WORKTREE_DIRTY if something is staged that the files do not contain: the files are included, so it would be lost. */
async function refuseStagedAlone(
  scratch: Scratch,
  base: string,
  staged: string,
  worked: string,
): Promise<void> {
  const files = new Map(
    (await changedEntries(scratch, base, worked, 'latin1')).map((entry) => [entry.path, entry.after]),
  );
  const lost: DirtyPath[] = [];
  for (const { path, before, after } of await changedEntries(scratch, base, staged, 'latin1')) {
    const file = files.has(path) ? files.get(path) : before;
    const isElsewhere = files.has(path) && (after?.mode === file?.mode || after?.mode === before?.mode);
    if (isElsewhere && (await holdsLines(scratch, file, after, before))) continue;
    lost.push({ path: toTextPath(path), reason: 'staged' });
  }
  refuseDirty(lost, {
    hints: [
      'what is staged is not in the file: stage the file (`git add`) or unstage it, then start or resume the run',
    ],
  });
}

/** True if a file contains each line that `other` has and `base` does not. */
async function holdsLines(
  scratch: Scratch,
  ...sides: readonly [file: Side, other: Side, base: Side]
): Promise<boolean> {
  const ids = sides.map((side) => side?.object);
  const wanted = [...new Set(ids.filter((id) => id !== undefined))];
  const objects = await readObjects(scratch, wanted);
  const [file, other, base] = ids.map((id) => {
    const object = id === undefined ? undefined : objects[wanted.indexOf(id)];
    return (object?.bytes.toString('latin1') ?? '').split('\n');
  });
  const known = new Map<string, number>();
  for (const line of [...(file ?? []), ...(base ?? [])]) known.set(line, (known.get(line) ?? 0) + 1);
  return (other ?? []).every((line) => {
    const left = known.get(line) ?? 0;
    known.set(line, left - 1);
    return left > 0;
  });
}

/** Paths and digest of the local changes between two trees or commits. */
export async function describeLocal(
  place: GitDirectory,
  base: string,
  local: string,
): Promise<Pick<IncludedChanges, 'paths' | 'digest'>> {
  const entries = await changedEntries(place, base, local);
  return {
    paths: entries.map(({ path }) => path),
    digest: canonicalDigest(
      entries.map(({ path, after }) => [path, after?.mode ?? null, after?.object ?? null]),
    ),
  };
}

/**
 * The candidate with the local changes merged into it (three-way over `base`). WORKTREE_DIRTY, naming the paths, if
 * they conflict.
 */
export async function mergeLocal(
  scratch: Scratch,
  base: string,
  candidateTree: string,
  { tree }: IncludedChanges,
): Promise<string> {
  const merged = await mergeTrees(scratch, base, candidateTree, tree);
  if (merged.tree !== undefined) return merged.tree;
  throw dirtyFault(
    merged.conflicts.map((path) => ({ path, reason: 'conflicting' })),
    {
      hints: [
        'the local changes conflict with the change: commit or stash them, then start or resume the run',
      ],
    },
  );
}
