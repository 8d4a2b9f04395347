/* Schedules the Tasks of a plan, in the order in which they can start. */
import { WritError } from '../../core/base/errors.ts';
import { checkTaskGraph, type GraphTask } from '../../core/interfaces/plan.ts';
import { parseWritePattern } from '../plan/predicted-writes.ts';

/** Directories and files that a Task's writes touch: all of it, or something below it. `''` is the repository. */
type WriteNodes = ReadonlyMap<string, 'whole' | 'within'>;

/**
 * Converts predicted writes to nodes. A glob counts as its directory: a Task may wait unnecessarily, but never runs
 * next to a conflicting one.
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
 * The current write locks. Each query, lock and release costs one lookup per node, regardless of the number of other
 * holders.
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

  /** Call only after `blockedAt` found no conflict. */
  hold(nodes: WriteNodes): void {
    for (const [path, kind] of nodes) {
      const hold = this.#holds.get(path) ?? { whole: false, within: 0 };
      if (kind === 'whole') hold.whole = true;
      else hold.within += 1;
      this.#holds.set(path, hold);
    }
  }

  /** Releases only the nodes of this Task. */
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

/** How a Task ended. `failed`: its dependants never start, other Tasks continue. `stop`: no further Task starts. */
export type TaskEnd = 'done' | 'failed' | 'stop';

export interface ScheduleRequest<T> {
  readonly tasks: readonly T[];
  /** Keys of Tasks that are done already: by an earlier process or revision. */
  readonly done?: Iterable<string>;
  /** Maximum number of Tasks in parallel, at least one; read again whenever a Task ends. */
  readonly limit: () => number;
  readonly work: (task: T) => TaskEnd | Promise<TaskEnd>;
  /** After an abort no Task starts; `work` is responsible for ending running Tasks. */
  readonly signal?: AbortSignal;
}

/** Every Task by key: `done`, `failed` and `stopped` in the order they ended, `notStarted` by number. */
interface ScheduleOutcome {
  readonly done: readonly string[];
  readonly failed: readonly string[];
  readonly stopped: readonly string[];
  readonly notStarted: readonly string[];
}

type Ended<T> = { readonly task: T } & ({ readonly end: TaskEnd } | { readonly fault: unknown });

/**
 * Runs a DAG of Tasks. Ready Tasks start in order of number, up to the limit. Two Tasks with overlapping predicted
 * writes never run in parallel; unknown writes block no Task.
 *
 * Resolves when every started Task has ended. The first rejection of `work` stops new starts and is then thrown;
 * otherwise throws the signal's reason if an abort left Tasks undone. Throws PLAN_INVALID or PLAN_CYCLE before any
 * work if the tasks are not a DAG.
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

/** A NaN or zero limit must not block all Tasks. */
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
 * Queue of ready Tasks, lowest number first. A Task with writes that overlap those of a running Task waits at the
 * path that blocked it. When a path is released, only the first Task waiting there is retried, so 1,000 Tasks that
 * write one file cost 1,000 checks and not a million.
 */
class WaitingLine<T extends LinedTask> {
  readonly #line = new NumberQueue<T>();
  readonly #conflicts = new WriteConflicts();
  readonly #nodes = new Map<T, WriteNodes>();
  readonly #aside = new Map<string, NumberQueue<T>>();
  /** Tasks returned to the queue, with the path where they waited. */
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

  /** Releases a Task's writes when it has ended. */
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

/**
 * Returns Tasks as soon as their dependencies are done. Works on one draft that has passed `checkTaskGraph`; its
 * total cost is linear.
 */
interface TaskFrontier<T> {
  /** Returns Tasks with all dependencies done, lowest numbers first, at most `limit`; each Task is returned once. */
  ready(limit?: number): readonly T[];
  /** Marks a returned Task as done. Throws INTERNAL for any other key, and for a second call. */
  done(key: string): void;
  /** Tasks that are not done yet, whether returned or not. */
  readonly left: number;
}

/** `done` are the keys of Tasks that an earlier process or revision has done. */
export function openFrontier<T extends GraphTask>(
  tasks: readonly T[],
  done: Iterable<string> = [],
): TaskFrontier<T> {
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const waitingFor = new Map<string, number>();
  const followers = new Map<string, T[]>();
  const finished = new Set<string>();
  const working = new Set<string>();
  const queue = new NumberQueue<T>();
  for (const key of done) if (byKey.has(key)) finished.add(key);
  for (const task of tasks) {
    if (finished.has(task.key)) continue;
    const open = task.dependsOn.filter((before) => !finished.has(before));
    waitingFor.set(task.key, open.length);
    if (open.length === 0) queue.push(task);
    for (const before of open) {
      const known = followers.get(before);
      if (known) known.push(task);
      else followers.set(before, [task]);
    }
  }
  return {
    ready(limit = Number.POSITIVE_INFINITY) {
      const taken: T[] = [];
      while (taken.length < limit) {
        const task = queue.pop();
        if (task === undefined) break;
        working.add(task.key);
        taken.push(task);
      }
      return taken;
    },
    done(key) {
      if (!working.delete(key))
        throw new WritError('INTERNAL', {
          message: `task \`${key}\` is done without having been handed out`,
          detail: { key },
        });
      finished.add(key);
      for (const task of followers.get(key) ?? []) {
        const open = (waitingFor.get(task.key) ?? 0) - 1;
        waitingFor.set(task.key, open);
        if (open === 0) queue.push(task);
      }
      followers.delete(key);
    },
    get left() {
      return byKey.size - finished.size;
    },
  };
}

/** Lowest number first: a binary heap. */
class NumberQueue<T extends { readonly number: number }> {
  readonly #heap: T[] = [];

  push(item: T): void {
    const heap = this.#heap;
    let at = heap.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.number <= item.number) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = item;
  }

  /** Removes and returns the lowest; `undefined` if empty. */
  pop(): T | undefined {
    const heap = this.#heap;
    const [top] = heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const isRight = left !== undefined && right !== undefined && right.number < left.number;
      const child = isRight ? right : left;
      if (child === undefined || child.number >= last.number) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
    return top;
  }
}
