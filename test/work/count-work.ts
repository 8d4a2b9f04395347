import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';

/**
 * Something whose work is counted. `prepare` makes the input of a size, which is not counted, and answers what is; it
 * may answer a promise.
 */
export interface Job {
  readonly prepare: (size: number) => (() => unknown) | Promise<() => unknown>;
  /** The smallest of the three sizes that are counted; the others are twice and four times that. 2,000 by default. */
  readonly size?: number;
  /** How much faster than its input the work may grow: 1.25 by default, for what is sorted, or rounded up. */
  readonly slack?: number;
  /** A pattern counts the length of its match in place of its steps: for a library whose patterns V8 tries in fewer places. */
  readonly patternsByMatch?: boolean;
}

export type Jobs = Readonly<Record<string, Job>>;

/** How often something was done, in all, at each of the three sizes. */
export interface Work {
  readonly name: string;
  readonly size: number;
  readonly counts: readonly [number, number, number];
  readonly slack: number;
}

/**
 * Counts the work of every job that the module at `url` exports as `jobs`, in a thread of its own: how often each block
 * of JavaScript ran, how many signs and elements built-in functions went over, and how many steps patterns took
 * (`counting-thread.ts`). No clock has a part in it, so that the same sources give the same counts on each machine.
 */
export async function countWork(url: URL): Promise<readonly Work[]> {
  const { NODE_V8_COVERAGE: _, ...env } = process.env;
  const thread = new Worker(new URL('./counting-thread.ts', import.meta.url), {
    workerData: url.href,
    // The matcher of patterns takes a frame for each turn of a loop.
    resourceLimits: { stackSizeMb: 200 },
    // What counts coverage would start each count again.
    env,
  });
  return await new Promise((resolve, reject) => {
    thread.once('message', resolve).once('error', reject);
    thread.once('exit', (code) => reject(new Error(`the counting thread ended with ${code}`)));
  });
}

/**
 * Asserts of each job that its work grows no faster than its input. What the second doubling of the input adds is
 * compared with what the first one added, so that work of a fixed size hides nothing: twice as much is in proportion,
 * four times as much is a square.
 */
export async function growsWithInput(t: Test, url: URL): Promise<void> {
  for (const { name, size, counts, slack } of await countWork(url)) {
    const [first, second] = [counts[1] - counts[0], counts[2] - counts[1]];
    const times = second / first;
    const said = `${name}: ${counts.join(', ')} from ${size}, the second doubling adds ${times.toFixed(2)} times the first`;
    // Where there is a bound, it adds nothing any more.
    t.ok(counts[0] > 0 && second <= Math.max(0, 2 * slack * first), said);
  }
}
