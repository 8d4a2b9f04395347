import { NumberQueue } from '../../plan/number-queue.ts';
import { WriteConflicts, type WriteNodes, writeNodes } from './write-conflicts.ts';

/** What a line needs to know of a Task; absent `predictedWrites` = unknown, resolved at merge. */
export interface LinedTask {
  readonly number: number;
  readonly predictedWrites?: readonly string[] | undefined;
}

const nowhere: WriteNodes = new Map();

/**
 * Tasks that could start, lowest number first, but for those whose writes meet the writes of one that runs: these stand
 * aside at the place where they were stopped. Of those at one place only the first is asked again, so a thousand Tasks
 * that write one file cost a thousand questions and not a million.
 */
export class WaitingLine<T extends LinedTask> {
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
