/* Runs a process and ends it at its limits. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { ExceededLimit, SandboxRequest } from '../../core/interfaces/sandbox.ts';
import { type SpawnRequest, type SpawnResult, spawnProcess } from '../../workspace/process/spawn.ts';
import { profile } from './refused-calls.ts';
import { type Watched, watchLimits } from './watch-limits.ts';

/** Returns the parts of a started process to watch, and the first process to watch; `undefined` if there is none. */
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
    // The caller's abort signal or the deadline may have come first.
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

/** A control group (cgroup v2) in which the kernel itself holds what is in it to the limits. */
interface LimitGroup {
  /** Puts a process in, and all that it starts from then on. False where the kernel does not let us. */
  take(pid: number): boolean;
  /** Whether what was in it ran into the memory limit; the kernel ended all of it then. */
  exceeded(): ExceededLimit | undefined;
  /** Removes the group, which is empty when its processes have ended. */
  remove(): Promise<void>;
}

const prefix = 'writ-';
const removals = 50;
const waitMs = 20;

/**
 * A group beside our own, where the one above was delegated to us with a memory controller (as to a login session of
 * systemd); `undefined` elsewhere, and where the kernel refuses any part of it.
 */
export function openLimitGroup(
  limits: { readonly memoryBytes: number; readonly tasks: number },
  above: string | undefined = delegatedGroup(),
): LimitGroup | undefined {
  if (above === undefined) return undefined;
  const group = path.join(above, `${prefix}${process.pid}-${randomOctets(6).toString('hex')}`);
  const write = (name: string, value: string): void => writeFileSync(path.join(group, name), value);
  try {
    mkdirSync(group);
    write('memory.max', String(limits.memoryBytes));
    write('memory.oom.group', '1');
  } catch {
    removeGroup(group);
    return undefined;
  }
  // Kernels without swap, and groups without the other controller, hold what they can.
  for (const [name, value] of [
    ['memory.swap.max', '0'],
    ['pids.max', String(limits.tasks)],
  ] as const) {
    try {
      write(name, value);
    } catch {
      // See above.
    }
  }
  return {
    take(pid) {
      try {
        write('cgroup.procs', String(pid));
        return true;
      } catch {
        return false;
      }
    },
    exceeded() {
      const killed = numberIn(path.join(group, 'memory.events'), /^oom_kill (\d+)$/m);
      if (killed === undefined || killed === 0) return undefined;
      const found = numberIn(path.join(group, 'memory.peak'), /^(\d+)$/m);
      return { what: 'memory', limit: limits.memoryBytes, found: found ?? limits.memoryBytes };
    },
    async remove() {
      for (let round = 0; round < removals && !removeGroup(group); round += 1)
        await systemClock.sleep(waitMs);
    },
  };
}

/** The group above our own, where we may make groups and move processes into them, and memory is limited in those. */
function delegatedGroup(): string | undefined {
  try {
    // The root cgroup has no parent.
    const own = /^0::(\/.+)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const [, , , root, mounted] = mounts.find((line) => line.includes(' - cgroup2 '))?.split(' ') ?? [];
    if (own === undefined || mounted === undefined || root !== '/') return undefined;
    const above = path.join(mounted, path.dirname(own));
    const controllers = readFileSync(path.join(above, 'cgroup.subtree_control'), 'utf8').split(/\s/);
    if (!controllers.includes('memory')) return undefined;
    removeLeft(above);
    return above;
  } catch {
    return undefined;
  }
}

/** Groups of processes of ours that were killed; the kernel removes none that holds a process. */
function removeLeft(above: string): void {
  for (const name of readdirSync(above)) {
    const pid = Number(/^writ-(\d{1,10})-[0-9a-f]{12}$/.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) removeGroup(path.join(above, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function removeGroup(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function numberIn(file: string, pattern: RegExp): number | undefined {
  try {
    const digits = pattern.exec(readFileSync(file, 'utf8'))?.[1];
    return digits === undefined ? undefined : Number(digits);
  } catch {
    return undefined;
  }
}
