import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';

/** The run whose blobs are kept. */
export interface RetainedRun {
  readonly repository: Repository;
  /** Its id, encoded as one component of a ref or path. */
  readonly name: string;
  /** `refs/ai`. */
  readonly refStem: string;
  /** Time of what is committed, epoch milliseconds; always the same for a run. */
  readonly atMs: number;
}

/** One way to keep blobs from `git gc`. `keep` and `release` are called under a lock. */
export interface BlobRetention {
  /** True: a run has one tree, and new blobs go into it. False: each `keep` adds a tree. */
  readonly merges: boolean;
  /** The trees (or commits) that name a run's blobs; none where none are kept. */
  trees(run: RetainedRun): Promise<readonly string[]>;
  /** Makes a tree of a scratch, and all that is in it, part of what is kept. All or nothing. */
  keep(run: RetainedRun, made: { readonly scratch: Scratch; readonly tree: string }): Promise<void>;
  /** Hands what is kept over to git: it must stay readable for whatever else in the repository has come to need it. */
  release(run: RetainedRun): Promise<void>;
}
