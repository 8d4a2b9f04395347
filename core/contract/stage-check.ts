import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchFile, PatchSet } from './patch-set.ts';
import type { ArtifactRecord, CheckRecord, StageName, TestCounts } from './stage.ts';

/**
 * What stands at a gate once its own checks and rules have spoken. Plain data, redacted like what is stored of the run,
 * and without times: the same stand is told in the same words.
 */
export interface StageCheckInput {
  readonly runId: string;
  readonly stage: StageName;
  /** The contract with its defaults applied. */
  readonly spec: EffectiveIntentSpec;
  readonly patch: ChangeFacts;
  /** Checks of the earlier stages and of this one, in the order of the contract. */
  readonly checks: readonly CheckFacts[];
  /** What was said of the patch, of checks and of stages so far, errors first; at most 2000. */
  readonly findings: readonly StandingFinding[];
  /** How many more there are. */
  readonly omittedFindings: number;
  /** Every artifact of the run so far. */
  readonly artifacts: readonly ArtifactFacts[];
}

/** The candidate. */
export interface ChangeFacts extends Pick<PatchSet, 'digest' | 'baseTree' | 'candidateTree'> {
  /** Absent on an unborn HEAD. */
  readonly baseCommit?: string;
  readonly files: readonly Omit<PatchFile, 'start' | 'end'>[];
  /** The whole diff as text (what is no UTF-8 is U+FFFD), for a check that declares `readsDiff`. */
  readonly diff?: string;
}

/** How a check went. */
export type CheckFacts = Pick<
  CheckRecord,
  | 'id'
  | 'kind'
  | 'stage'
  | 'status'
  | 'required'
  | 'fromPolicy'
  | 'tolerated'
  | 'command'
  | 'expectedExitCode'
  | 'exitCode'
  | 'timedOut'
> & { readonly tests?: Pick<TestCounts, 'passed' | 'failed' | 'skipped'> };

/** A finding, and where it was found; of the patch where it names neither. Its message is cut, its detail left out. */
export type StandingFinding = Omit<Finding, 'detail'> & {
  readonly stage?: StageName;
  readonly check?: string;
};

/** An artifact by its digest. */
export type ArtifactFacts = Pick<
  ArtifactRecord,
  'name' | 'stage' | 'checkId' | 'sha256' | 'sizeBytes' | 'contentType'
>;

/**
 * Who judges what stands at a gate beside the engine: what it finds is added to what was found, and takes nothing away.
 */
export interface StageCheck {
  /** Kebab-case; its findings bear it as their rule. */
  readonly name: string;
  /** Who brought it. */
  readonly plugin: string;
  readonly stages: readonly StageName[];
  readonly readsDiff: boolean;
  /** Rejects where there is no answer: with PLUGIN_PROCESS_FAULT, or the signal's reason. */
  judge(input: StageCheckInput, signal: AbortSignal): Promise<readonly Finding[]>;
}
