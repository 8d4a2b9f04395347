import { WritError } from '../../../core/base/errors.ts';
import { checkTaskGraph, type GraphTask } from '../../../core/contract/task-graph.ts';
import { openFrontier } from '../../plan/task-frontier.ts';
import { type LinedTask, WaitingLine } from './waiting-line.ts';

/** How a Task ended. `failed`: what depends on it never starts, the others go on. `stop`: nothing starts any more. */
export type TaskEnd = 'done' | 'failed' | 'stop';

export interface ScheduleRequest<T> {
  readonly tasks: readonly T[];
  /** Keys of Tasks that are done already: by an earlier process or revision. */
  readonly done?: Iterable<string>;
  /** How many may run side by side, at least one; asked again whenever one has ended. */
  readonly limit: () => number;
  readonly work: (task: T) => TaskEnd | Promise<TaskEnd>;
  /** Once aborted nothing starts any more; ending what runs is up to `work`. */
  readonly signal?: AbortSignal;
}

/** Every Task by key: `done`, `failed` and `stopped` in the order they ended, `notStarted` by number. */
export interface ScheduleOutcome {
  readonly done: readonly string[];
  readonly failed: readonly string[];
  readonly stopped: readonly string[];
  readonly notStarted: readonly string[];
}

type Ended<T> = { readonly task: T } & ({ readonly end: TaskEnd } | { readonly fault: unknown });

/**
 * Works a DAG: what is ready starts in order of number up to the limit; two Tasks whose predicted writes meet never run
 * at once, unknown writes stop nobody. Resolves when all that was started has ended. The first rejection of `work`
 * stops new starts and is thrown then, else the signal's reason where it left something undone. PLAN_INVALID and
 * PLAN_CYCLE, before any work, for what is no DAG.
 */
export async function schedule<T extends GraphTask & LinedTask>(
  request: ScheduleRequest<T>,
): Promise<ScheduleOutcome> {
  const { tasks, limit, work, signal } = request;
  requireGraph(tasks);
  const started = new Set(request.done);
  const frontier = openFrontier(tasks, started);
  const line = new WaitingLine<T>();
  const ended: Ended<T>[] = [];
  const faults: unknown[] = [];
  const keys = { done: [] as string[], failed: [] as string[], stop: [] as string[] };
  let running = 0;
  let isStopping = false;
  let wake = (): void => {};

  const begin = (task: T): void => {
    running += 1;
    started.add(task.key);
    const settle = (how: { end: TaskEnd } | { fault: unknown }): void => {
      ended.push({ task, ...how });
      wake();
    };
    (async () => work(task))().then(
      (end) => settle({ end }),
      (fault: unknown) => settle({ fault }),
    );
  };
  const settle = (one: Ended<T>): void => {
    running -= 1;
    line.release(one.task);
    if ('fault' in one) faults.push(one.fault);
    else {
      keys[one.end].push(one.task.key);
      if (one.end === 'done') frontier.done(one.task.key);
    }
    isStopping ||= 'fault' in one || one.end === 'stop';
  };

  for (;;) {
    for (const task of frontier.ready()) line.add(task);
    while (!isStopping && signal?.aborted !== true && running < atLeastOne(limit())) {
      const task = line.take();
      if (!task) break;
      begin(task);
    }
    if (running === 0) break;
    if (ended.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    for (const one of ended.splice(0)) settle(one);
  }
  if (faults.length > 0) throw faults[0];
  const notStarted = tasks.filter(({ key }) => !started.has(key)).sort((a, b) => a.number - b.number);
  if (notStarted.length > 0 && !isStopping) signal?.throwIfAborted();
  return {
    done: keys.done,
    failed: keys.failed,
    stopped: keys.stop,
    notStarted: notStarted.map(({ key }) => key),
  };
}

function requireGraph(tasks: readonly GraphTask[]): void {
  if (tasks.length === 0) return;
  const checked = checkTaskGraph(tasks);
  if (checked.ok) return;
  const [first] = checked.problems;
  throw new WritError(first?.code ?? 'PLAN_INVALID', {
    message: first?.message ?? 'the plan is invalid',
    detail: { problems: checked.problems },
  });
}

/** A limit that is no number must not stop everything. */
function atLeastOne(limit: number): number {
  return limit >= 1 ? limit : 1;
}
