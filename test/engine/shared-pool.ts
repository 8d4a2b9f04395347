import { systemClock } from '../../core/base/clock.ts';
import { createPool, type WorkerPool } from '../../core/kernel/worker/pool.ts';

let pool: WorkerPool | undefined;

/**
 * Starting threads and reading the rules into them costs as much as the rest of a run: all runs and command lines of a
 * room have the same. One thread, because every process that a run starts costs more the more memory this one has.
 */
export function sharedPool(): WorkerPool {
  pool ??= createPool({ clock: systemClock, threads: 1 });
  return pool;
}

/** Ends them; the next run starts its own. For who starts many processes afterwards and no run. */
export async function closePool(): Promise<void> {
  const open = pool;
  pool = undefined;
  await open?.close();
}
