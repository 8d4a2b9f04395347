import type { Stores } from '../store/stores.ts';

/** Where something is asked for: in the repository that is named, else in the one around the working directory. */
export interface Place {
  /** What its runs may be kept in. */
  readonly stores: Stores;
  readonly repoPath?: string;
  readonly cwd: string;
}
