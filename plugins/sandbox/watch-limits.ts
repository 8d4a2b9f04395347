import { statSync } from 'node:fs';
import { systemClock } from '../../core/base/clock.ts';
import type { ExceededLimit } from '../../core/contract/sandbox.ts';
import { heldAtMost, heldBytes } from './held-memory.ts';
import { machineUse } from './machine-use.ts';
import { socketBytes } from './socket-memory.ts';

/** What is watched, and what it may hold together. */
export interface Watched {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** The directories of its processes in a `/proc`, as they are now. */
  readonly processes: () => readonly string[];
  /** Its memory file systems. */
  readonly directories: readonly string[];
  /** `/proc/<pid>/net` of a network namespace that is all its own. */
  readonly net?: string;
}

const everyMs = 50;
/** A look that took long is followed by a pause in proportion: it never takes more than a twentieth of our time. */
const pauseFactor = 20;

/**
 * Watches processes and says once which limit they exceed. While the whole machine uses less than the limit, a look
 * reads two small files. The answer ends the watch; the watch keeps nothing alive.
 */
export function watchLimits(watched: Watched, onExceeded: (exceeded: ExceededLimit) => void): () => void {
  let ended = false;
  let timer: NodeJS.Timeout;
  const look = async (): Promise<void> => {
    const started = systemClock.monotonic();
    const exceeded = await judge(watched);
    if (ended) return;
    if (exceeded !== undefined) onExceeded(exceeded);
    else again(Math.max(everyMs, pauseFactor * (systemClock.monotonic() - started)));
  };
  const again = (ms: number): void => {
    timer = setTimeout(look, ms);
    timer.unref();
  };
  again(everyMs);
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

async function judge(watched: Watched): Promise<ExceededLimit | undefined> {
  const { memoryBytes, tasks, directories, net } = watched;
  const machine = machineUse();
  const mayHold = machine === undefined || machine.memoryBytes > memoryBytes;
  const mayBeMany = machine === undefined || machine.tasks > tasks;
  if (!mayHold && !mayBeMany) return undefined;
  const processes = watched.processes();
  if (mayBeMany) {
    // Many processes are told by their list alone: each look at one costs, and while we look there are more.
    const found = processes.length > tasks ? processes.length : threadsOf(processes);
    if (found > tasks) return { what: 'processes', limit: tasks, found };
  }
  if (!mayHold) return undefined;
  const waiting = net === undefined ? 0 : socketBytes(net);
  if (waiting + heldAtMost(processes, directories) <= memoryBytes) return undefined;
  const found = waiting + (await heldBytes(processes, directories));
  return found > memoryBytes ? { what: 'memory', limit: memoryBytes, found } : undefined;
}

function threadsOf(processes: readonly string[]): number {
  let threads = 0;
  for (const process of processes) {
    // A directory for each thread, and two links of its own.
    threads += (statSync(`${process}/task`, { throwIfNoEntry: false })?.nlink ?? 2) - 2;
  }
  return threads;
}
