import type { RepositoryPlace } from '../core/contract/repository-place.ts';
import { readRepositorySettings } from '../engine/store/repository-settings.ts';
import { type MarkTrees, markTreesOf } from './mark-trees.ts';

/** What the names of dirty paths are judged by. */
export interface MarkGround {
  /** Root of the work tree that relative paths start from; links resolved. */
  readonly root: string;
  /** `core.ignorecase`: a directory goes by the spelling that it has on the disk. */
  readonly ignoreCase: boolean;
  /** `core.precomposeunicode`: names are kept in NFC. */
  readonly precompose: boolean;
  /** The work trees of the repository now: this one, the main one, the linked ones. */
  readonly trees: () => MarkTrees;
}

/**
 * Asks git once what it takes for the same name here and where the main work tree is; GIT_FAILED where it cannot read
 * its config.
 */
export async function openMarkGround(repo: RepositoryPlace): Promise<MarkGround> {
  const { main, ignoreCase, precompose } = await readRepositorySettings(repo);
  const own = main === undefined || main === repo.root ? [repo.root] : [repo.root, main];
  return { root: repo.root, ignoreCase, precompose, trees: markTreesOf(repo.commonDir, own) };
}
