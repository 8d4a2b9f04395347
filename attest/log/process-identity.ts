import { readFileSync, readlinkSync } from 'node:fs';

/** What tells one process from every other, also after its pid was given to another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot (field 22 of /proc/PID/stat); absent where there is no /proc. */
  readonly startTime?: string;
  readonly bootId?: string;
  /** The pid namespace: a pid means nothing outside it. */
  readonly namespace?: string;
}

/** This process. */
export function currentProcess(): ProcessIdentity {
  const startTime = statOf(process.pid)?.startTime;
  const bootId = quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = quietly(() => readlinkSync('/proc/self/ns/pid'));
  return {
    pid: process.pid,
    ...(startTime === undefined ? {} : { startTime }),
    ...(bootId === undefined ? {} : { bootId }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** True only with proof: another boot, no such pid in our namespace, a zombie, or a pid that began at another time. */
export function isProvenDead(owner: ProcessIdentity, self: ProcessIdentity = currentProcess()): boolean {
  if (owner.bootId !== undefined && self.bootId !== undefined && owner.bootId !== self.bootId) return true;
  if (owner.namespace !== self.namespace) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const stat = statOf(owner.pid);
  if (stat === undefined) return false;
  return stat.ended || (owner.startTime !== undefined && owner.startTime !== stat.startTime);
}

function statOf(pid: number): { startTime: string; ended: boolean } | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return undefined;
  // The command name may hold spaces and parentheses; the fields begin after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTime = fields[19];
  return startTime === undefined ? undefined : { startTime, ended: fields[0] === 'Z' || fields[0] === 'X' };
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
