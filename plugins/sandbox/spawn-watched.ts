import type { ExceededLimit, SandboxRequest } from '../../core/contract/sandbox.ts';
import { spawnProcess } from '../../engine/tool/spawn.ts';
import type { SpawnRequest, SpawnResult } from '../../engine/tool/spawn-request.ts';
import { type LimitGroup, openLimitGroup } from './limit-group.ts';
import { profile } from './profile.ts';
import { type Watched, watchLimits } from './watch-limits.ts';

/** What of a process that has started is to be watched, and from which process on all are; `undefined`: nothing. */
type FindWatched = (
  started: number,
) => (Pick<Watched, 'processes' | 'directories' | 'net'> & { readonly first: number }) | undefined;

/**
 * Runs a process as `spawnProcess` does and ends it where what is watched holds more than the request allows: then
 * without an exit code. Where a control group was delegated to us the kernel holds it to that as well, without a moment
 * in between.
 */
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
  let group: LimitGroup | undefined;
  try {
    const result = await spawnProcess({
      ...spawn,
      signal: signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]),
      onReady(started) {
        const found = find(started);
        if (found === undefined) return;
        group = openLimitGroup(limits);
        group?.take(found.first);
        endWatch = watchLimits({ ...limits, ...found }, (limit) => {
          exceeded = limit;
          ended.abort();
        });
      },
    });
    // Whoever asked to stop, or the deadline, may have been first.
    if (signal?.aborted || result.timedOut) return result;
    exceeded ??= group?.exceeded();
    if (exceeded === undefined) return result;
    const { exitCode: _of, ...said } = result;
    return { ...said, signal: 'SIGKILL', aborted: false, exceeded };
  } finally {
    endWatch?.();
    await group?.remove();
  }
}
