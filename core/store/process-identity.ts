import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { execFileBounded } from '../tool/spawn.ts';

/** Tells one process from every other that has or had its pid. */
export interface ProcessIdentity {
  readonly host: string;
  /** Changes with each boot; '' where the system does not say. */
  readonly boot: string;
  /** Pid namespace; '' where there is none. */
  readonly namespace: string;
  readonly pid: number;
  /** When it started, in the system's own terms. */
  readonly started: string;
}

/** Who we are. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return { ...(await surroundings()), pid: process.pid, started: (await startOf(process.pid)) ?? '' };
}

/**
 * True only where the process is proven to be gone: same machine, and rebooted since, or the pid is free or belongs to a younger process. One on
 * another machine or in another pid namespace cannot be judged, so it counts as alive.
 */
export async function isProvenDead(other: ProcessIdentity): Promise<boolean> {
  const here = await surroundings();
  if (other.host !== here.host) return false;
  if (other.boot !== here.boot) return other.boot !== '' && here.boot !== '';
  if (other.namespace !== here.namespace) return false;
  const started = await startOf(other.pid);
  return started === undefined || started !== other.started;
}

async function surroundings(): Promise<Pick<ProcessIdentity, 'host' | 'boot' | 'namespace'>> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return { host: hostname(), boot: boot.trim(), namespace };
}

/** `undefined` where no such process runs. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    // Field 22, counted behind the program's name, which may hold blanks and parentheses.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields?.[0] === 'Z' ? undefined : fields?.[19];
  }
  const { code, stdout } = await execFileBounded(['ps', '-o', 'lstart=', '-p', String(pid)], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    maxBytes: 4096,
  });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}
