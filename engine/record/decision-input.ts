/* The input of a decision: its type, its parser and its limits. */
import type { Severity } from '../../core/interfaces/finding.ts';
import { type ReplanTrigger, replanTriggers } from '../../core/interfaces/plan.ts';
import type { DecisionType } from '../../core/interfaces/run-view.ts';
import { type StageName, stageNames } from '../../core/interfaces/stage.ts';
import {
  decimal,
  fields,
  flag,
  listOf,
  oneOf,
  orNull,
  type Shape,
  text,
  wholeNumber,
} from '../../store/shape.ts';

/** A finding without its words: what deciding needs, and what replay can compare years later. */
export interface DecidedFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly path?: string;
  readonly line?: number;
}

export interface DecidedStage {
  readonly stage: StageName;
  readonly status: 'passed' | 'failed' | 'skipped' | 'waiting' | 'not-started';
  readonly expected: number;
  readonly ran: number;
  readonly checks: readonly {
    readonly id: string;
    readonly status: 'passed' | 'failed' | 'waiting';
    readonly required: boolean;
    /** A pre-existing failure that the spec tolerates. */
    readonly tolerated?: boolean;
  }[];
  readonly findings: readonly DecidedFinding[];
}

/** A Task with its retry count. */
export interface DecidedTask {
  readonly id: string;
  readonly attempt: number;
  readonly maxRetries: number;
}

/** Findings attributed to one Task, or to none. */
export interface BlamedFindings {
  /** In all. */
  readonly count: number;
  /** The first 20. */
  readonly first: readonly DecidedFinding[];
}

/**
 * The rule version an input was decided by. Some v1 records have no `citations`: they predate citations, and a check
 * that ran was enough. v2 records always have it.
 */
const decisionInputSchemas = ['urn:writ:decision-input:v1', 'urn:writ:decision-input:v2'] as const;

/** Characters of a worker's reason in a decision. */
export const maxWorkerReason = 300;

/**
 * The whole input of a decision: digests and outcomes only, no content, so no retention period applies. Stored as
 * `decision-input.json`.
 */
export interface DecisionInput {
  /** The last of them in everything that is decided now. */
  readonly schema: (typeof decisionInputSchemas)[number];
  readonly runId: string;
  readonly specId: string;
  readonly specDigest: string;
  readonly baseCommit: string | null;
  /** The commit that supplied configuration, plugins, policies and signers; `null` on an unborn branch. */
  readonly policyCommit: string | null;
  /** The branch that it was the tip of; absent where it is the base itself. */
  readonly policyRef?: string;
  /** Present where that is neither the target nor the default branch: this one, `null` where none was known. */
  readonly defaultRef?: string | null;
  readonly patchDigest: string;
  readonly candidateTree: string;
  readonly gateReportDigest: string;
  /** One attempt at a Task (evaluated by the fast stage), or the merged candidate (evaluated by all four stages). */
  readonly subject: 'attempt' | 'candidate';
  /** A supplied patch is never retried nor replanned. */
  readonly source: 'supplied' | 'worker';
  /** The Task that a failure's retry counts against: the attempt's Task; for a candidate, the Task to retry. */
  readonly task?: DecidedTask;
  /**
   * For a candidate refused because of file content: which attempts wrote that content, found through the patchsets
   * that were merged. Absent if no file was refused, and for a supplied patch.
   */
  readonly blame?: {
    /** Names of those attempts, in the order that they were merged. */
    readonly merged: readonly string[];
    /** Tasks to retry, in plan order. If empty, `task` is retried. */
    readonly tasks: readonly (DecidedTask & BlamedFindings)[];
    readonly unwritten: BlamedFindings;
  };
  /** What the attempt's worker returned; `failed`: its answer was not a patch of this repository. */
  readonly worker?: 'patch' | 'nothing' | 'failed';
  /** Why the worker's answer is not a patch, from the attempt's record: one line, redacted. */
  readonly workerReason?: string;
  /** Paths that did not merge. */
  readonly conflicts: readonly string[];
  readonly patchFindings: readonly DecidedFinding[];
  /** The change edits files below `.writ/` that govern writ. It then needs two approvers, regardless of the spec. */
  readonly touchesGoverning: boolean;
  readonly stages: readonly DecidedStage[];
  readonly wallClock: { readonly limitSeconds: number; readonly exceeded: boolean };
  /** Refusals of decision guards, in the order of the plugins. */
  readonly refusals: readonly DecidedFinding[];
  /** `enabled` by the spec, `fired` by the run; only triggers in both lists count. */
  readonly triggers: { readonly enabled: readonly ReplanTrigger[]; readonly fired: readonly ReplanTrigger[] };
  /** Revisions of the Plan after its first, so far and at most. */
  readonly replans: { readonly count: number; readonly limit: number };
  /** Units of 0.001 USD; a limit of 0 is none. */
  readonly cost: { readonly limitUnits: number; readonly usedUnits: number };
  /** Numbers of distinct people with a valid signed approval or rejection of exactly this candidate. */
  readonly human: {
    readonly required: boolean;
    readonly needed: number;
    readonly approved: number;
    readonly rejected: number;
  };
  /**
   * How many passed checks the final decision must cite (0: none), and whether the spec trusts their tier (`repo`).
   * Absent only in v1 records.
   */
  readonly citations?: { readonly needed: number; readonly trusted: boolean };
  /** `objmodel.decisionPolicy`. */
  readonly policy: {
    readonly abandonOnSecurityGateFail: boolean;
    readonly checkpointBeforeReplan: boolean;
    readonly rollbackOnProvenanceFail: boolean;
  };
  /** What stopped the sealing of a candidate that was decided to be committed. */
  readonly sealing?: SealingFault;
}

/**
 * Why a change that was decided to be committed is not sealed as it should be: its record does not bear it, its
 * provenance or the log failed, its target was moved by somebody else, or files of it were changed in the working tree.
 */
const sealingFaults = ['refuted', 'provenance-failed', 'swap-lost', 'changed-under-us'] as const;

export type SealingFault = (typeof sealingFaults)[number];

/** What the Scheduler does about a decision. */
type DecisionStep =
  | 'seal'
  | 'stop'
  | 'wait-for-approval'
  | 'wait-for-budget'
  | 'retry'
  | 'replan'
  | 'merge'
  | 'swap';

/** What `decide` answers; its canonical form is the decision record that replay must reproduce byte for byte. */
export interface DecisionRecord {
  readonly schema: 'urn:writ:decision:v1';
  readonly runId: string;
  readonly type: DecisionType;
  readonly next: DecisionStep;
  readonly rationale: string;
  /** Stable reason codes, most decisive first; empty if no reason was found against the change. */
  readonly reasons: readonly string[];
  readonly inputDigest: string;
}

const finding = fields(
  { rule: text, severity: oneOf('error', 'warning', 'note') },
  { path: text, line: wholeNumber },
);

const stage = fields({
  stage: oneOf(...stageNames),
  status: oneOf('passed', 'failed', 'skipped', 'waiting', 'not-started'),
  expected: wholeNumber,
  ran: wholeNumber,
  checks: listOf(
    fields({ id: text, status: oneOf('passed', 'failed', 'waiting'), required: flag }, { tolerated: flag }),
  ),
  findings: listOf(finding),
});

const task = { id: text, attempt: wholeNumber, maxRetries: wholeNumber };
const blamed = { count: wholeNumber, first: listOf(finding) };

const triggers = listOf(oneOf(...replanTriggers));

/**
 * The stored form of a decision's input. An unknown field is refused, because its writer gave it a meaning that this
 * version does not know.
 */
const decisionInput: Shape<DecisionInput> = fields(
  {
    schema: oneOf(...decisionInputSchemas),
    runId: text,
    specId: text,
    specDigest: text,
    baseCommit: orNull(text),
    policyCommit: orNull(text),
    patchDigest: text,
    candidateTree: text,
    gateReportDigest: text,
    subject: oneOf('attempt', 'candidate'),
    source: oneOf('supplied', 'worker'),
    conflicts: listOf(text),
    patchFindings: listOf(finding),
    touchesGoverning: flag,
    stages: listOf(stage),
    wallClock: fields({ limitSeconds: wholeNumber, exceeded: flag }),
    refusals: listOf(finding),
    triggers: fields({ enabled: triggers, fired: triggers }),
    replans: fields({ count: wholeNumber, limit: wholeNumber }),
    cost: fields({ limitUnits: wholeNumber, usedUnits: decimal }),
    human: fields({ required: flag, needed: wholeNumber, approved: wholeNumber, rejected: wholeNumber }),
    policy: fields({
      abandonOnSecurityGateFail: flag,
      checkpointBeforeReplan: flag,
      rollbackOnProvenanceFail: flag,
    }),
  },
  {
    policyRef: text,
    defaultRef: orNull(text),
    task: fields(task),
    blame: fields({
      merged: listOf(text),
      tasks: listOf(fields({ ...task, ...blamed })),
      unwritten: fields(blamed),
    }),
    worker: oneOf('patch', 'nothing', 'failed'),
    workerReason: text,
    citations: fields({ needed: wholeNumber, trusted: flag }),
    sealing: oneOf(...sealingFaults),
  },
);

/**
 * Returns what is wrong with an input that the Scheduler would never build: an invalid shape, or contradictory
 * values. Empty if the input is valid.
 */
export function inputProblems(input: DecisionInput): readonly string[] {
  const problems: string[] = [];
  decisionInput.check(input, '', problems);
  return problems.length > 0 ? problems : contradictions(input);
}

function contradictions({
  schema,
  subject,
  source,
  task,
  blame,
  worker,
  workerReason,
  citations,
  sealing,
  cost,
}: DecisionInput): readonly string[] {
  const isWorkerAttempt = subject === 'attempt' && source === 'worker';
  return [
    ...(schema !== 'urn:writ:decision-input:v1' && citations === undefined
      ? ['/citations: expected how many checks are to be cited']
      : []),
    ...(isWorkerAttempt && worker === undefined ? ['/worker: expected what the worker answered'] : []),
    ...(source === 'supplied' && worker !== undefined && worker !== 'patch'
      ? ['/worker: expected no worker of a supplied patch']
      : []),
    ...(workerReason !== undefined && (worker === undefined || worker === 'patch')
      ? ['/workerReason: expected none of a worker that answered a patch']
      : []),
    ...((workerReason?.length ?? 0) > maxWorkerReason
      ? [`/workerReason: expected at most ${maxWorkerReason} characters`]
      : []),
    ...(task?.attempt === 0 ? ['/task/attempt: expected attempts to count from 1'] : []),
    ...(blame !== undefined && (source === 'supplied' || subject === 'attempt')
      ? ['/blame: expected a candidate of a worker']
      : []),
    ...(blame?.tasks.some(({ attempt }) => attempt === 0)
      ? ['/blame/tasks: expected attempts to count from 1']
      : []),
    ...(cost.usedUnits < 0 ? ['/cost/usedUnits: expected units from 0'] : []),
    ...(subject === 'attempt' && sealing !== undefined
      ? ['/sealing: expected no sealing of an attempt']
      : []),
  ];
}
