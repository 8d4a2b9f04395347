import type { Base } from '../../workspace/git/resolve-commit.ts';
import type { PolicyCommit, Target } from '../../workspace/git/target.ts';
import type { ForeignPolicy } from './policies.ts';

/** Where a run lands and which policy applies. Fixed at the start, independent of later commands and directories. */
export interface Landing {
  /** The base of comparison and parent of the sealed commit: the target's tip if the target exists. */
  readonly base: Base;
  readonly target: Target;
  readonly policy: PolicyCommit;
  /** Where the change started, if that is behind the policy commit. */
  readonly lag?: Lag;
  /** Present where the policy is neither the target's nor the default branch's. */
  readonly foreign?: ForeignPolicy;
}

/** How far a change's start is behind the policy commit. */
export interface Lag {
  /** Where the change started. */
  readonly from: string;
  /** Commits of the policy commit that it does not have. */
  readonly commits: number;
}
