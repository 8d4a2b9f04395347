/* The pool of worker threads, as a wrapper of piscina, and its task that evaluates rules. */
import { getCompileCacheDir } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import type { Piscina } from 'piscina';
import type { Clock } from '../../base/clock.ts';
import { WritError } from '../../base/errors.ts';
import type { run } from './evaluate-rule-in-thread.ts';
import {
  defineTask,
  requireTask,
  type Task,
  type TaskCall,
  type TaskFailure,
  type TaskOutcome,
  toErrorRecord,
} from './task.ts';

/** Evaluates a rule in a thread, or starts a thread with the modules of rules loaded. */
export const evaluateRuleTask = defineTask<typeof run>(
  new URL('./evaluate-rule-in-thread.ts', import.meta.url),
);

interface TaskLimits {
  /** From the moment a thread is given the task; waiting for a free thread does not count. Milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** More tasks of this kind follow: if no thread is free, start another at once. */
  readonly hurries?: boolean;
}

/**
 * Threads for CPU work. Results are values and failures are records: `run` rejects only on a closed pool, and on an
 * undefined task.
 */
export interface WorkerPool {
  readonly threads: number;
  /** Aborted when the pool is closed. */
  readonly closed: AbortSignal;
  run<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    limits: TaskLimits,
  ): Promise<TaskOutcome<Output>>;
  /** Starts a thread and loads rules' modules (file URLs) before its first task, in parallel to the caller. */
  warm(modules: readonly string[]): void;
  /** Ends every thread; tasks that still run end as `aborted`. */
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly clock: Clock;
  /** Default: the machine's parallelism, from 2 (one stuck task must not stop the rest) to 8. */
  readonly threads?: number;
  /** Heap of one thread, MiB; default 1024. A task that needs more crashes. */
  readonly maxHeapMiB?: number;
}

const warmLimits = { timeoutMs: 60_000 };
const idleTimeoutMs = 30_000;
const defaultHeapMiB = 1024;
/** Runs before it on the same thread can cause a crash, so a task gets a second thread before it is blamed. */
const maxCrashes = 2;

/** Creates a pool that starts threads on its first task. An idle pool keeps no process alive. */
export function createPool({
  clock,
  threads = defaultThreads(),
  maxHeapMiB = defaultHeapMiB,
}: PoolOptions): WorkerPool {
  const closing = new AbortController();
  // Own queue: piscina starts no thread for queued tasks after one was terminated, and time in its queue would count
  // into the deadline.
  const admission = createAdmission(threads, clock);
  let started: Promise<Piscina<TaskCall, TaskOutcome<never>>> | undefined;

  const attempt = async (
    task: TaskCall,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<TaskOutcome<never>> => {
    started ??= start(threads, maxHeapMiB);
    const piscina = await started;
    const settled = new AbortController();
    const late = new AbortController();
    clock.sleep(timeoutMs, settled.signal).then(
      () => late.abort(),
      () => {},
    );
    try {
      return await piscina.run(task, { signal: AbortSignal.any([signal, late.signal]) });
    } catch (thrown) {
      if (signal.aborted) return toFailure('aborted', 'the task was aborted');
      if (late.signal.aborted) return toFailure('deadline', `no answer within ${timeoutMs} ms`);
      const unsendable = thrown instanceof DOMException && thrown.name === 'DataCloneError';
      return { ok: false, reason: unsendable ? 'unsendable' : 'crashed', error: toErrorRecord(thrown) };
    } finally {
      settled.abort();
    }
  };

  const pool: WorkerPool = {
    threads,
    closed: closing.signal,
    warm(modules) {
      pool.run(evaluateRuleTask, { preload: modules }, warmLimits).catch(() => {});
    },
    async run(task, input, { timeoutMs, signal, hurries }) {
      if (closing.signal.aborted)
        throw new WritError('WORKER_FAULT', { message: 'the worker pool is closed' });
      requireTask(task);
      const call = { module: task.module, input };
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      if (!(await admission.enter(stop, hurries))) return toFailure('aborted', 'the task was aborted');
      try {
        let outcome = await attempt(call, timeoutMs, stop);
        for (let crashes = 1; isCrash(outcome) && crashes < maxCrashes; crashes++) {
          outcome = await attempt(call, timeoutMs, stop);
        }
        return outcome;
      } finally {
        admission.exit();
      }
    },
    async close() {
      closing.abort();
      const piscina = await started?.catch(() => undefined);
      await piscina?.destroy();
    },
  };
  return pool;
}

async function start(threads: number, maxHeapMiB: number): Promise<Piscina<TaskCall, TaskOutcome<never>>> {
  const { Piscina } = await import('piscina');
  const entry = import.meta.url.endsWith('.ts') ? './entry.ts' : './entry.js';
  const { NODE_V8_COVERAGE: coverage } = process.env;
  // Node returns a version-specific subdirectory of the directory it was given.
  const compiled = getCompileCacheDir();
  const piscina = new Piscina<TaskCall, TaskOutcome<never>>({
    filename: new URL(entry, import.meta.url).href,
    minThreads: 0,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: idleTimeoutMs,
    // Waits by message instead of Atomics.wait, so that a task's leftovers fail at once and not in the next task.
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB, maxYoungGenerationSizeMb: 3 },
    // A task is a pure function, so it gets no environment. Node itself reads these two when the thread starts:
    // without the compile cache a thread needs four times as long to start. The entry then deletes the second.
    env: {
      ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }),
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }),
    },
  });
  // If a thread fails between two tasks, no task is affected; the next one gets a new thread.
  piscina.on('error', () => {});
  return piscina;
}

function toFailure(reason: TaskFailure, message: string): TaskOutcome<never> {
  return { ok: false, reason, error: { name: 'Error', message } };
}

function isCrash(outcome: TaskOutcome<never>): boolean {
  return !outcome.ok && outcome.reason === 'crashed';
}

function defaultThreads(): number {
  return Math.min(8, Math.max(2, availableParallelism()));
}

/**
 * A thread costs 20 to 50 MB and loads all modules again, which takes as long as all rules of a small change. So one
 * thread works alone until a task has waited this long.
 */
const patienceMs = 300;

/** Decides which tasks may run now. */
interface Admission {
  /**
   * Waits in call order for a free place; resolves to false if `signal` aborts first. A call that hurries waits only
   * if there can be no more places.
   */
  enter(signal: AbortSignal, hurries?: boolean): Promise<boolean>;
  /** Gives a place back; once for each `true`. */
  exit(): void;
}

/** Starts with one place; adds one, up to `most`, for each task that hurries or has waited for 300 ms. */
export function createAdmission(most: number, clock: Clock): Admission {
  const waiting: (() => void)[] = [];
  let places = 1;
  let free = places;
  return {
    enter: (signal, hurries = false) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(false);
        if (free > 0) {
          free--;
          return resolve(true);
        }
        if (hurries && places < most) {
          places++;
          return resolve(true);
        }
        const settled = new AbortController();
        const settle = (isAdmitted: boolean) => {
          settled.abort();
          signal.removeEventListener('abort', leave);
          resolve(isAdmitted);
        };
        const admit = () => settle(true);
        const withdraw = () => waiting.splice(waiting.indexOf(admit), 1);
        const leave = () => {
          withdraw();
          settle(false);
        };
        waiting.push(admit);
        signal.addEventListener('abort', leave, { once: true });
        if (places >= most) return;
        clock.sleep(patienceMs, settled.signal).then(
          () => {
            if (settled.signal.aborted || places >= most) return;
            places++;
            withdraw();
            admit();
          },
          () => {},
        );
      }),
    exit() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}
