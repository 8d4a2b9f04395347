import { join } from 'node:path';
import { askGit, type GitDirectory } from '../../../workspace/git/git.ts';
import { type ChangedEntry, changedEntries } from '../../../workspace/git/held-index.ts';
import type { Base } from '../../../workspace/git/resolve-commit.ts';
import { type SealedObjects, sealObjects } from '../../../workspace/git/scratch.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import type { TreeOfWorkspace } from '../../../workspace/git/workspace.ts';
import type { OpenRun } from '../../state/open-run.ts';

/**
 * Version control as visible in an attempt. Commits come from a store that holds only what is reachable from the
 * base, as deep as checks see it. It contains no ref, no configuration and no other object of the user. The workspace
 * is read as it would be committed, never through its `.git`.
 */
export interface SeenHistory {
  readonly base: Base;
  /** Object database of everything below. */
  readonly objects: GitDirectory;
  /** The store of commits; `undefined` where there is none yet. */
  readonly sealed: () => Promise<SealedObjects | undefined>;
  /** Tree of the workspace now. */
  readonly now: () => Promise<string>;
}

export function openHistory(
  { means: { scratch }, ground: { config } }: Pick<OpenRun, 'means' | 'ground'>,
  base: Base,
  { place, kept }: { readonly place: string; readonly kept: TreeOfWorkspace },
): SeenHistory {
  let made: Promise<SealedObjects | undefined> | undefined;
  const seal = async (): Promise<SealedObjects | undefined> =>
    base.commit === undefined
      ? undefined
      : sealObjects(scratch, join(place, 'history'), {
          commit: base.commit,
          history: config.workspace.history,
          trees: [],
        });
  return { base, objects: scratch, sealed: () => (made ??= seal()), now: () => kept.take() };
}

/** A commit that the sealed store holds; `undefined` for whatever is none. */
export async function commitOf(
  { base }: Pick<SeenHistory, 'base'>,
  sealed: SealedObjects,
  revision: string,
): Promise<string | undefined> {
  const named = revision.replace(/^HEAD/, base.commit ?? '');
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${named}^{commit}`];
  const { code, stdout } = await askGit(sealed, args);
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

/** Entries of a tree, or the differences between two, that may be shown and are at or below the requested paths. */
export async function changesShown(
  { objects }: Pick<SeenHistory, 'objects'>,
  [before, after]: readonly [string, string],
  isShown: (path: string) => boolean,
): Promise<readonly ChangedEntry[]> {
  return (await changedEntries(objects, before, after)).filter(({ path }) => isShown(path));
}

export async function pathsShown(
  { objects }: Pick<SeenHistory, 'objects'>,
  tree: string,
  isShown: (path: string) => boolean,
): Promise<readonly string[]> {
  return (await listTree(objects, tree)).map(({ path }) => path).filter(isShown);
}
