import type { DigestedThing } from '../../../core/contract/attestor.ts';
import type { CheckNetwork } from '../../../core/contract/network-use.ts';
import type { ReplanTrigger } from '../../../core/contract/replan-trigger.ts';
import type { WorkUsage } from '../../../core/contract/worker.ts';
import type { DecisionRecord } from './decision-input.ts';

/** What became of one attempt at one Task, small enough to be read back by the thousand. */
export interface SettledAttempt {
  /** Stable name inside the run; its steps, directories and files bear it. */
  readonly name: string;
  readonly revision: number;
  readonly key: string;
  readonly number: number;
  /** From 1, within the revision. */
  readonly attempt: number;
  readonly baseTree: string;
  /** What it made of its base; its base itself where it made nothing. */
  readonly tree: string;
  readonly decision: DecisionRecord;
  /** For the next attempt; untrusted text. */
  readonly failure: string;
  /** What the failed checks printed, for the next attempt; untrusted text. */
  readonly output?: string;
  readonly failedTests: readonly string[];
  /** What fired and is enabled. */
  readonly trigger?: ReplanTrigger;
  /** Paths that a `scope` finding refused. */
  readonly refusedPaths?: readonly string[];
  readonly usage: WorkUsage;
  readonly metrics?: Readonly<Record<string, number>>;
  /** What its worker looked up on. */
  readonly network?: CheckNetwork;
  /** Language servers that answered it. */
  readonly servers?: readonly DigestedThing[];
  readonly startedAtMs: number;
}
