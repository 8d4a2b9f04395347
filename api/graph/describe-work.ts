import type { StoredObject } from '../../engine/store/stored-object.ts';
import { type Described, eachOf, named, toDetail } from './described.ts';
import type { RunRecord } from './thread-record.ts';

/** A revision of a plan. */
export function describePlan(plan: StoredObject<'plan'>): Described {
  const { reason, diff_summary: change, scope } = plan;
  return {
    label: `plan ${plan.revision}`,
    tags: plan.previous === undefined ? [] : ['revision'],
    detail: toDetail(
      reason === undefined ? undefined : `planned anew after ${reason}`,
      change,
      `${plan.tasks.length} tasks`,
      eachOf(plan.steps, ({ objective }) => `step: ${objective}`),
      scope.whole_repository
        ? 'may write: the whole repository'
        : eachOf(scope.write, (one) => `may write: ${one}`),
      eachOf(scope.forbidden, (one) => `may not write: ${one}`),
      named('made at', plan.created_at),
    ),
  };
}

/** A Task of a plan. */
export function describeTask(task: StoredObject<'task'>): Described {
  const { kind, gate_stage: stage, steps } = task;
  // The title of all that is implemented is the same; one step says what it is about.
  const about = kind !== 'gate' && steps.length === 1 ? (steps[0] ?? task.title) : task.title;
  return {
    label: task.number === undefined ? about : `task ${task.number}: ${about}`,
    tags: kind === 'gate' ? ['gate', ...(stage === undefined ? [] : [stage])] : [],
    detail: toDetail(
      eachOf(
        steps.filter((one) => one !== about),
        (one) => `step: ${one}`,
      ),
      eachOf(task.predicted_writes ?? [], (one) => `expected to write: ${one}`),
      eachOf(task.acceptance_criteria, (one) => `accepted when: ${one}`),
      named('title', task.title === about ? undefined : task.title),
      named('goal', task.goal),
      eachOf(task.constraints, (one) => `constraint: ${one}`),
    ),
  };
}

/** The run of a record as a whole; `ended` is what its decision came to. */
export function describeRun(
  { runId, state, place, isWhole, problem, started }: RunRecord,
  run: StoredObject<'run'> | undefined,
  ended: string | undefined,
): Described {
  return {
    label: `run ${runId}`,
    tags: [ended ?? state, ...(problem === undefined ? [] : ['damaged']), ...(isWhole ? [] : ['folded'])],
    detail: toDetail(
      problem,
      isWhole ? undefined : 'not all of its objects are drawn',
      named('started at', run?.started_at),
      named('contract', started?.specId),
      ...(run === undefined ? [] : groundOf(run)),
      named('attempts', run?.attempt),
      named('kept in', place),
    ),
  };
}

/** One attempt at a Task, or a merged candidate that was handed back; `folder` is where it stands in the record. */
export function describeAttempt(run: StoredObject<'run'>, folder: string): Described {
  const candidate = /^candidate-(\d+)/.exec(folder)?.[1];
  const { outcome } = run;
  return {
    label: candidate === undefined ? `attempt ${run.attempt}` : `merged candidate ${candidate}`,
    tags: [
      candidate === undefined ? 'attempt' : 'candidate',
      ...(outcome !== undefined && /^[a-z-]{1,30}$/.test(outcome) ? [outcome] : []),
    ],
    detail: toDetail(
      named('started at', run.started_at),
      named('finished at', run.finished_at),
      ...groundOf(run),
      named('kept as', folder),
    ),
  };
}

function groundOf(run: StoredObject<'run'>): readonly (string | undefined | readonly string[])[] {
  return [
    named('base commit', run.base_commit),
    named('target', run.target_ref),
    named('policy of', run.policy_ref),
    named('sandbox', run.sandbox),
    eachOf(Object.entries(run.metrics ?? {}), ([name, value]) => `${name}: ${value}`),
  ];
}
