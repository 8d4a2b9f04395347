import type { AttestRequest, DigestedThing } from '../../../core/contract/attestor.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { StageRecord } from '../../../core/contract/stage.ts';
import type { DecisionInput, DecisionRecord } from './decision-input.ts';

/** Everything that was found out about a candidate, and what was decided from it. */
export interface JudgedRun {
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
  /** Refusals of decision guards. */
  readonly refusals: readonly Finding[];
  /** Untracked directories that the checks were given. */
  readonly dependencies: readonly DigestedThing[];
  /** Revision of the plan that led here. */
  readonly revision: number;
  /** Attempts at Tasks in all. */
  readonly attempts: number;
  /** Of the workers of those attempts, each with its name. */
  readonly workNetworks: NonNullable<AttestRequest['network']>;
  /** What the run used up (document 1, runPolicy.metricsSchema). */
  readonly metrics: Readonly<Record<string, number>>;
  readonly input: DecisionInput;
  readonly decision: DecisionRecord;
}
