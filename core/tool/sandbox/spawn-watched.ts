import type { ExceededLimit, SandboxRequest } from '../../contract/sandbox.ts';
import { type SpawnRequest, type SpawnResult, spawnProcess } from '../spawn.ts';
import { profile } from './profile.ts';
import { type Watched, watchLimits } from './watch-limits.ts';

/** What of a process that has started is to be watched; `undefined`: nothing. */
export type FindWatched = (started: number) => Pick<Watched, 'processes' | 'directories'> | undefined;

/** Runs a process as `spawnProcess` does and ends it where what is watched holds more than the request allows: then without an exit code. */
export async function spawnWatched(
  { maxMemoryBytes = profile.maxMemoryBytes }: Pick<SandboxRequest, 'maxMemoryBytes'>,
  spawn: SpawnRequest,
  find: FindWatched,
): Promise<SpawnResult> {
  const limits = { memoryBytes: maxMemoryBytes, tasks: profile.limits.processes };
  const ended = new AbortController();
  const { signal } = spawn;
  let exceeded: ExceededLimit | undefined;
  let endWatch: (() => void) | undefined;
  try {
    const result = await spawnProcess({
      ...spawn,
      signal: signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]),
      onReady(started) {
        const found = find(started);
        if (found === undefined) return;
        endWatch = watchLimits({ ...limits, ...found }, (limit) => {
          exceeded = limit;
          ended.abort();
        });
      },
    });
    // Whoever asked to stop, or the deadline, may have been first.
    if (exceeded === undefined || signal?.aborted || result.timedOut) return result;
    return { ...result, aborted: false, exceeded };
  } finally {
    endWatch?.();
  }
}
