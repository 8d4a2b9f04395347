import type { CheckOutcome } from './check.ts';
import type { Finding } from './finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { CheckRecord, StageName } from './stage.ts';

/** A side of a change. */
export type Side = 'base' | 'candidate';

/** A tree in which a check runs again: that of one side, with some paths of the patch as the other side has them. */
export interface Rerun {
  readonly tree: Side;
  /** Test files from the other side. What does not exist there does not exist in the tree. */
  readonly tests?: readonly string[];
  /** Data that tests read, from the other side. */
  readonly verificationInputs?: readonly string[];
  /** Files that do not exist in the tree: what a check does without a file shows whether it runs it. */
  readonly without?: readonly string[];
}

/** What a rule learns of a further run. */
export type Executed = Pick<CheckOutcome, 'executed'>;

/** What a rule learns about a check that passed, and the only ways by which it reaches git and further runs. */
export interface ExecutedCheck {
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  /** What the check did in the candidate. */
  readonly ran: CheckOutcome;
  /** Changed paths that the check read at the base. Absent if it was not observed. */
  readonly reads?: readonly string[];
  /** True if the change is for a goal of a session. The session then prompts its user about rewritten failing tests. */
  readonly isForGoal: boolean;
  /**
   * Runs the check in another tree, once for each tree; what it did in the base may be known from an earlier run. A run
   * in a mixed tree is evidence. `undefined` if the patch has no base, or if the time of the run is used up.
   */
  rerun(where: Rerun): Promise<Executed | undefined>;
  /** Texts of files of one side, without files that do not exist; none if they are too large together. */
  readTexts(side: Side, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Evaluates the same rule against the patch. */
  ask(args: readonly string[]): Promise<readonly Finding[]>;
}

/** A rule's result for one check. */
export interface ExecutedAnswer {
  readonly findings?: readonly Finding[];
  /** JSON that the rule gets back when the stage has ended, in another process perhaps. It is redacted. */
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
