/* The interface of rules that compare executed tests. */
import type { CheckOutcome } from './check.ts';
import type { Finding } from './finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { CheckRecord, StageName } from './stage.ts';

export type Side = 'base' | 'candidate';

/** A tree in which a check runs again: one side, with some paths of the patch taken from the other side. */
export interface Rerun {
  readonly tree: Side;
  /** Files as `ExecutedCheck.rewritten` has them at its base. */
  readonly asBefore?: readonly string[];
  /** Test files from the other side. A file that does not exist there is removed. */
  readonly tests?: readonly string[];
  /** Data that tests read, from the other side. */
  readonly verificationInputs?: readonly string[];
  /** Files that are removed from the tree: the result without a file shows whether the check runs it. */
  readonly without?: readonly string[];
}

/** Tests that failed and that earlier runs of a session's goal made pass by rewriting them. */
export interface RewrittenTests {
  /** The commit before the first rewriting. */
  readonly base: string;
  readonly tests: readonly string[];
  /** The rewritten files of tests and data, as far as they exist at `base`. */
  readonly paths: readonly string[];
}

/** Result of a further run. */
export type Executed = Pick<CheckOutcome, 'executed'>;

/** A check that passed, and the only access of a rule to git and to further runs. */
export interface ExecutedCheck {
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  /** Result of the check in the candidate. */
  readonly ran: CheckOutcome;
  /** Changed paths that the check read at the base. Absent if it was not observed. */
  readonly reads?: readonly string[];
  /** True if the change is for a goal of a session. The session then prompts its user about rewritten failing tests. */
  readonly isForGoal: boolean;
  /** Tests of this check that earlier runs of the goal rewrote. */
  readonly rewritten?: RewrittenTests;
  /**
   * Runs the check in another tree, once for each tree. The result at the base may come from an earlier run. A run in
   * a mixed tree is recorded as evidence. `undefined` if the patch has no base, or if the time of the run is used up.
   */
  rerun(where: Rerun): Promise<Executed | undefined>;
  /** Texts of existing files of one side; empty if they are too large together. */
  readTexts(side: Side, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Evaluates the same rule against the patch. */
  ask(args: readonly string[]): Promise<readonly Finding[]>;
}

/** A rule's result for one check. */
export interface ExecutedAnswer {
  readonly findings?: readonly Finding[];
  /** JSON that the rule receives after the stage, perhaps in another process. It is redacted. */
  readonly note?: unknown;
}

/** Input of a rule for a stage after its checks have ended. */
export interface ExecutedStage extends Pick<ExecutedCheck, 'spec' | 'patch' | 'ask'> {
  readonly stage: StageName;
  readonly checks: readonly CheckRecord[];
  /** The rule's own notes, by the id of the check. */
  readonly notes: ReadonlyMap<string, unknown>;
}

/** The part of a rule that compares executed tests. Runs in the main thread for every check that passed. */
export interface ExecutedRule {
  judgeCheck(check: ExecutedCheck): Promise<ExecutedAnswer>;
  judgeStage?(stage: ExecutedStage): Promise<readonly Finding[]>;
}
