import type { GitDirectory } from '../../workspace/git/git.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { MovedRef, MoveStatus } from './move-outcome.ts';
import type { Remote } from './network-git.ts';
import type { StoredRef } from './stored-ref.ts';

/** The two sides of a fetch. */
export interface FetchConnection {
  readonly repository: Repository;
  readonly network: GitDirectory;
  readonly remote: Remote;
  readonly signal: AbortSignal;
  /** Versions of the runs of which two records are kept. */
  readonly doubled: Pick<StoredRef, 'object' | 'prefix'>[];
  /** Refs of the content and plans of those runs: theirs go with their record. */
  readonly parts: Set<string>;
}

/** A ref that stays where it is here. */
export function unmoved(ref: string, at: string | null, status: MoveStatus): MovedRef {
  return { ref, from: at, to: at, status };
}
