/* The Tasks of a plan that can start next. */
import { WritError } from '../../core/base/errors.ts';
import type { GraphTask } from '../../core/interfaces/plan.ts';

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
export class NumberQueue<T extends { readonly number: number }> {
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
