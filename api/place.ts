import type { Stores } from '../store/stores.ts';

/** Where a command runs: the named repository, else the one around the working directory. */
export interface Place {
  /** What its runs may be kept in. */
  readonly stores: Stores;
  readonly repoPath?: string;
  readonly cwd: string;
}
