import type { PolicyCommit } from '../../workspace/git/find-policy.ts';
import type { Target } from '../../workspace/git/plan-target.ts';
import type { Base } from '../../workspace/git/resolve-commit.ts';
import type { ForeignPolicy } from './policies.ts';

/** Where a run lands and by whose policy it is judged: fixed when it starts, whatever is typed later and wherever. */
export interface Landing {
  /** What the candidate is compared with and the sealed commit stands on: the tip of the target where there is one. */
  readonly base: Base;
  readonly target: Target;
  readonly policy: PolicyCommit;
  /** Where the change started, where that lies behind the policy commit. */
  readonly lag?: Lag;
  /** Present where the policy is neither the target's nor the default branch's. */
  readonly foreign?: ForeignPolicy;
}

/** How far the start of a change lies behind the commit that judges it. */
export interface Lag {
  /** Where the change started. */
  readonly from: string;
  /** Commits of the policy commit that it does not have. */
  readonly commits: number;
}
