import { sealPaths } from '../../engine/store/record/seal-paths.ts';
import { describeDecision, describeEvidence, describePatchset } from './describe-judgement.ts';
import { describeAttempt, describePlan, describeRun, describeTask } from './describe-work.ts';
import type { Drawing } from './drawing.ts';
import { openObjectNodes } from './object-nodes.ts';
import { type RunParts, toRunParts } from './run-parts.ts';
import type { RunRecord } from './thread-record.ts';

/**
 * Draws one run of a thread below `intent`: its plans, Tasks, attempts, and what was made, shown and decided. What an
 * object names and the record does not hold is a node of its own, tagged `missing`; what cannot be read is `damaged`.
 */
export function drawRun(drawing: Drawing, run: RunRecord, intent: string | undefined): void {
  const parts = toRunParts(run);
  const nodes = openObjectNodes(drawing, run);
  const plans = nodes.add('plan', parts.plans, describePlan);
  const tasks = nodes.add('task', parts.tasks, describeTask);
  const attempts = nodes.add('run', parts.attempts, describeAttempt);
  const whole = drawWhole(drawing, run, parts);
  nodes.keep('run', run.runId, whole);
  const patchsets = nodes.add('patchset', parts.patchsets, describePatchset);
  const evidence = nodes.add('evidence', parts.evidence, describeEvidence);
  const decisions = nodes.add('decision', parts.decisions, describeDecision);

  const { connect } = drawing;
  const lastPlan = plans.at(-1)?.[1];
  for (const [{ parsed }, id] of plans) {
    connect(intent, id, 'plan');
    if (!parsed.object) continue;
    connect(nodes.demand('plan', parsed.object.previous), id, 'replaced-by');
    for (const task of parsed.object.tasks) connect(id, nodes.demand('task', task), 'task');
  }
  for (const [{ parsed }, id] of tasks) {
    connect(nodes.demand('plan', parsed.object?.plan) ?? lastPlan, id, 'task');
    for (const before of parsed.object?.depends_on ?? []) connect(nodes.demand('task', before), id, 'before');
  }
  for (const [{ parsed, folder }, id] of attempts) {
    const task = folder.startsWith('candidate-') ? undefined : parsed.object?.task;
    const plan = nodes.demand('plan', parsed.object?.plan) ?? lastPlan;
    connect(nodes.demand('task', task) ?? plan ?? intent, id, 'run');
    connect(id, whole, 'part-of');
  }
  connect(nodes.demand('plan', parts.top?.object?.plan) ?? lastPlan ?? intent, whole, 'run');

  const runIn = new Map(attempts.map(([{ folder }, id]) => [folder, id]));
  const runOf = (id: string | undefined, folder: string) =>
    nodes.find('run', id) ?? runIn.get(folder) ?? whole;
  for (const [{ parsed, folder }, id] of patchsets)
    connect(runOf(parsed.object?.run, folder), id, 'patchset');
  const patchsetIn = new Map(patchsets.map(([{ folder }, id]) => [folder, id]));
  for (const [{ parsed, folder }, id] of evidence) {
    const patchset = nodes.demand('patchset', parsed.object?.patchset) ?? patchsetIn.get(folder);
    connect(patchset ?? runOf(parsed.object?.run, folder), id, 'evidence');
  }
  for (const [{ parsed, folder }, id] of decisions) {
    connect(runOf(parsed.object?.run, folder), id, 'decision');
    const { evidence: shown = [], patchset } = parsed.object ?? {};
    for (const one of shown) connect(nodes.demand('evidence', one), id, 'rests-on');
    if (shown.length === 0) connect(nodes.demand('patchset', patchset), id, 'rests-on');
  }
}

/** The run as a whole; it is there even where nothing of its record can be read. */
function drawWhole(drawing: Drawing, run: RunRecord, { top, decisions }: RunParts): string | undefined {
  const isRecorded = run.state === 'decided' || run.state === 'waiting';
  const isGone = top === undefined && isRecorded && run.isWhole;
  const damage = isGone ? '`run.json` is missing' : top && 'problem' in top ? top.problem : undefined;
  const problem = run.problem ?? damage;
  const typeAt = (path: string) => decisions.find((one) => one.path === path)?.parsed.object?.type;
  // A decision that took another back holds.
  const ended = typeAt(sealPaths.rollback) ?? typeAt('decision.json');
  const shown = describeRun({ ...run, ...(problem === undefined ? {} : { problem }) }, top?.object, ended);
  return drawing.add({ id: run.runId, kind: 'run', ...shown }, run.place);
}
