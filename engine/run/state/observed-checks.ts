import type { CheckObservation } from '../../../core/contract/stage.ts';

/** What observing the checks of a contract at the policy commit showed about a patch. */
export interface ObservedChecks {
  /** Paths that the patch makes exist and that judge if they are there, each with what led to it. */
  readonly filled: Readonly<Record<string, string>>;
  /** Of each check, what it looked for in vain below directories that `prepare` makes: at most 5,000 paths. */
  readonly unprepared: Readonly<Record<string, readonly string[]>>;
  /** Of each check that was traced, paths of the patch that it read. */
  readonly reads?: Readonly<Record<string, readonly string[]>>;
  /** How each check was observed. */
  readonly checks: Readonly<Record<string, CheckObservation>>;
}
