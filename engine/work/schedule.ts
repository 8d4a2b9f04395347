import { WritError } from '../../core/base/errors.ts';
import { checkTaskGraph, type GraphTask } from '../../core/interfaces/plan.ts';
import { parseWritePattern } from '../plan/predicted-writes.ts';
import { NumberQueue, openFrontier } from '../plan/task-frontier.ts';

/** Directories and files that a Task's writes touch: all of it, or something below it. `''` is the repository. */
type WriteNodes = ReadonlyMap<string, 'whole' | 'within'>;

/**
 * The places of predicted writes. A glob counts as the directory it lies in: a Task may wait without need, never run
 * beside one it meets.
 */
function writeNodes(predictedWrites: readonly string[]): WriteNodes {
  const nodes = new Map<string, 'whole' | 'within'>();
  for (const text of predictedWrites) {
    const { directory } = parseWritePattern(text);
    let path = '';
    for (const name of directory) {
      if (!nodes.has(path)) nodes.set(path, 'within');
      path = path === '' ? name : `${path}/${name}`;
    }
    nodes.set(path, 'whole');
  }
  return nodes;
}

interface Hold {
  whole: boolean;
  within: number;
}

/**
 * Who writes where at this moment. Asking, holding and releasing cost one look per node, however many others hold
 * something.
 */
class WriteConflicts {
  readonly #holds = new Map<string, Hold>();

  /** The first place that somebody else holds; `undefined` where all of `nodes` can be held. */
  blockedAt(nodes: WriteNodes): string | undefined {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path);
      if (hold && (hold.whole || kind === 'whole')) return path;
    }
    return undefined;
  }

  /** Only where `blockedAt` found nothing. */
  hold(nodes: WriteNodes): void {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path) ?? { whole: false, within: 0 };
      if (kind === 'whole') hold.whole = true;
      else hold.within += 1;
      this.#holds.set(path, hold);
    }
  }

  /** Gives back what was held, and nothing else. */
  release(nodes: WriteNodes): void {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path);
      if (!hold) continue;
      if (kind === 'whole') hold.whole = false;
      else hold.within -= 1;
      if (!hold.whole && hold.within === 0) this.#holds.delete(path);
    }
  }
}

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

/** What a line needs to know of a Task; absent `predictedWrites` = unknown, resolved at merge. */
interface LinedTask {
  readonly number: number;
  readonly predictedWrites?: readonly string[] | undefined;
}

const nowhere: WriteNodes = new Map();

/**
 * Tasks that could start, lowest number first, but for those whose writes meet the writes of one that runs: these stand
 * aside at the place where they were stopped. Of those at one place only the first is asked again, so a thousand Tasks
 * that write one file cost a thousand questions and not a million.
 */
class WaitingLine<T extends LinedTask> {
  readonly #line = new NumberQueue<T>();
  readonly #conflicts = new WriteConflicts();
  readonly #nodes = new Map<T, WriteNodes>();
  readonly #aside = new Map<string, NumberQueue<T>>();
  /** Tasks that were called back into the line from where they stood aside, and from where. */
  readonly #called = new Map<T, string>();

  add(task: T): void {
    this.#line.push(task);
  }

  /** The next Task that may run now; it holds what it writes until `release`. */
  take(): T | undefined {
    for (let task = this.#line.pop(); task !== undefined; task = this.#line.pop()) {
      const nodes = this.#nodesOf(task);
      const blockedAt = this.#conflicts.blockedAt(nodes);
      if (blockedAt === undefined) this.#conflicts.hold(nodes);
      else this.#standAside(blockedAt, task);
      const place = this.#called.get(task);
      if (place !== undefined) {
        this.#called.delete(task);
        // A place that is held calls the next one when it is released.
        const isHeld = blockedAt === undefined ? nodes.get(place) === 'whole' : blockedAt === place;
        if (!isHeld) this.#call(place);
      }
      if (blockedAt === undefined) return task;
    }
    return undefined;
  }

  /** A Task that was taken has ended. */
  release(task: T): void {
    const nodes = this.#nodesOf(task);
    this.#nodes.delete(task);
    this.#conflicts.release(nodes);
    for (const place of nodes.keys()) this.#call(place);
  }

  #standAside(place: string, task: T): void {
    const aside = this.#aside.get(place) ?? new NumberQueue<T>();
    aside.push(task);
    this.#aside.set(place, aside);
  }

  #call(place: string): void {
    const next = this.#aside.get(place)?.pop();
    if (next === undefined) {
      this.#aside.delete(place);
      return;
    }
    this.#called.set(next, place);
    this.#line.push(next);
  }

  #nodesOf(task: T): WriteNodes {
    const known = this.#nodes.get(task);
    if (known) return known;
    const nodes = task.predictedWrites === undefined ? nowhere : writeNodes(task.predictedWrites);
    this.#nodes.set(task, nodes);
    return nodes;
  }
}
