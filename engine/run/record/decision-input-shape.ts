import { replanTriggers } from '../../../core/contract/replan-trigger.ts';
import { stageNames } from '../../../core/contract/stage.ts';
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
import {
  type DecisionInput,
  decisionInputSchemas,
  maxWorkerReason,
  sealingFaults,
} from './decision-input.ts';

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

/** A decision's input as it is stored; an unknown field is refused, because whoever wrote it meant something by it. */
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

/** What no Scheduler would ask: a broken shape, or facts that contradict each other. Empty where the input is sound. */
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
