/* The input of a decision: its type, its parser and its limits. */
import { replanTriggers } from '../../core/interfaces/plan.ts';
import type { DecisionType } from '../../core/interfaces/run-view.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import {
  decimal,
  fields,
  flag,
  listOf,
  oneOf,
  orNull,
  type TypeOf,
  text,
  toStored,
  wholeNumber,
} from '../../store/shape.ts';

const finding = fields(
  { rule: text, severity: oneOf('error', 'warning', 'note') },
  { path: text, line: wholeNumber },
);

const decidedCheck = fields(
  { id: text, status: oneOf('passed', 'failed', 'waiting'), required: flag },
  /** A pre-existing failure that the spec tolerates. */
  { tolerated: flag },
);

const stage = fields({
  stage: oneOf(...stageNames),
  status: oneOf('passed', 'failed', 'skipped', 'waiting', 'not-started'),
  expected: wholeNumber,
  ran: wholeNumber,
  checks: listOf(decidedCheck),
  findings: listOf(finding),
});

/** A Task with its retry count. */
const taskFields = { id: text, attempt: wholeNumber, maxRetries: wholeNumber };
const task = fields(taskFields);
/** Findings attributed to one Task, or to none: how many in all, and the first 20. */
const blamedFields = { count: wholeNumber, first: listOf(finding) };
const blamed = fields(blamedFields);

/** Changed paths that one of their owners has to approve, and who has. */
export const ownedPaths = fields({
  pattern: text,
  owners: listOf(text),
  principals: listOf(text),
  paths: listOf(text),
  count: wholeNumber,
  approved: listOf(text),
});

const triggers = listOf(oneOf(...replanTriggers));

/**
 * The rule version an input was decided by. Some v1 records have no `citations`: they predate citations, and a check
 * that ran was enough. v2 records always have it.
 */
const decisionInputSchemas = ['urn:writ:decision-input:v1', 'urn:writ:decision-input:v2'] as const;

/** Characters of a worker's reason in a decision. */
export const maxWorkerReason = 300;

/**
 * Why a change that was decided to be committed is not sealed as it should be: its record does not bear it, its
 * provenance or the log failed, its target was moved by somebody else, or files of it were changed in the working tree.
 */
const sealingFault = oneOf('refuted', 'provenance-failed', 'swap-lost', 'changed-under-us');

/**
 * The whole input of a decision: digests and outcomes only, no content, so no retention period applies. Stored as
 * `decision-input.json`. An unknown field is refused, because its writer gave it a meaning that this version does not
 * know.
 */
const decisionInput = fields(
  {
    /** The last of them in everything that is decided now. */
    schema: oneOf(...decisionInputSchemas),
    runId: text,
    specId: text,
    specDigest: text,
    baseCommit: orNull(text),
    /** The commit that supplied configuration, plugins, policies and signers; `null` on an unborn branch. */
    policyCommit: orNull(text),
    patchDigest: text,
    candidateTree: text,
    gateReportDigest: text,
    /** One attempt at a Task (evaluated by the fast stage), or the merged candidate (evaluated by all four stages). */
    subject: oneOf('attempt', 'candidate'),
    /** A supplied patch is never retried nor replanned. */
    source: oneOf('supplied', 'worker'),
    /** Paths that did not merge. */
    conflicts: listOf(text),
    patchFindings: listOf(finding),
    /** The change edits files below `.writ/` that govern writ. It then needs two approvers, regardless of the spec. */
    touchesGoverning: flag,
    stages: listOf(stage),
    wallClock: fields({ limitSeconds: wholeNumber, exceeded: flag }),
    /** Refusals of decision guards, in the order of the plugins. */
    refusals: listOf(finding),
    /** `enabled` by the spec, `fired` by the run; only triggers in both lists count. */
    triggers: fields({ enabled: triggers, fired: triggers }),
    /** Revisions of the Plan after its first, so far and at most. */
    replans: fields({ count: wholeNumber, limit: wholeNumber }),
    /** Units of 0.001 USD; a limit of 0 is none. */
    cost: fields({ limitUnits: wholeNumber, usedUnits: decimal }),
    /** Numbers of distinct people with a valid signed approval or rejection of exactly this candidate. */
    human: fields({ required: flag, needed: wholeNumber, approved: wholeNumber, rejected: wholeNumber }),
    /** `objmodel.decisionPolicy`. */
    policy: fields({
      abandonOnSecurityGateFail: flag,
      checkpointBeforeReplan: flag,
      rollbackOnProvenanceFail: flag,
    }),
  },
  {
    /** The branch that the policy commit was the tip of; absent where it is the base itself. */
    policyRef: text,
    /** Present where that is neither the target nor the default branch: this one, `null` where none was known. */
    defaultRef: orNull(text),
    /** The Task that a failure's retry counts against: the attempt's Task; for a candidate, the Task to retry. */
    task,
    /**
     * For a candidate refused because of file content: which attempts wrote that content, found through the patchsets
     * that were merged. Absent if no file was refused, and for a supplied patch.
     */
    blame: fields({
      /** Names of those attempts, in the order that they were merged. */
      merged: listOf(text),
      /** Tasks to retry, in plan order. If empty, `task` is retried. */
      tasks: listOf(fields({ ...taskFields, ...blamedFields })),
      unwritten: blamed,
    }),
    /** What the attempt's worker returned; `failed`: its answer was not a patch of this repository. */
    worker: oneOf('patch', 'nothing', 'failed'),
    /** Why the worker's answer is not a patch, from the attempt's record: one line, redacted. */
    workerReason: text,
    /**
     * How many passed checks the final decision must cite (0: none), and whether the spec trusts their tier (`repo`).
     * Absent only in v1 records.
     */
    citations: fields({ needed: wholeNumber, trusted: flag }),
    /** By line of `.writ/owners`; absent where no owner has to approve. */
    owners: listOf(ownedPaths),
    /** What stopped the sealing of a candidate that was decided to be committed. */
    sealing: sealingFault,
  },
);

/** A finding without its words: what deciding needs, and what replay can compare years later. */
export type DecidedFinding = TypeOf<typeof finding>;
export type DecidedStage = TypeOf<typeof stage>;
export type DecidedTask = TypeOf<typeof task>;
export type BlamedFindings = TypeOf<typeof blamed>;
export type SealingFault = TypeOf<typeof sealingFault>;
export type DecisionInput = TypeOf<typeof decisionInput>;

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

export function toDecided(found: DecidedFinding): DecidedFinding {
  return toStored(finding, found);
}

export function toDecidedStage({ checks, findings, ...record }: DecidedStage): DecidedStage {
  const decided = checks.map((check) => toStored(decidedCheck, check));
  return toStored(stage, { ...record, checks: decided, findings: findings.map(toDecided) });
}

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
