/* Identifies a process beyond its pid. */
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { execFileBounded } from './spawn.ts';

/** Distinguishes a process from every other process that has or had its pid. */
export interface ProcessIdentity {
  readonly host: string;
  /** Changes with each boot; '' if the system does not report it. */
  readonly boot: string;
  /** Pid namespace; '' where there is none. */
  readonly namespace: string;
  readonly pid: number;
  /** When it started, in the system's own terms; '' where it could not be learnt. */
  readonly started: string;
}

/** Who we are. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return identityOf(process.pid);
}

/**
 * Returns the identity of a process on this machine. Call it only while the process certainly runs (a child that
 * waits for its input).
 */
export async function identityOf(pid: number): Promise<ProcessIdentity> {
  return { ...(await surroundings()), pid, started: (await startOf(pid)) ?? '' };
}

/**
 * Returns true only if the process is proven dead. It must be from the same machine, and the machine has rebooted
 * since, or the pid is free or belongs to a younger process. A process on another machine or in another pid namespace
 * counts as alive, because its state is unknown.
 */
export async function isProvenDead(other: ProcessIdentity): Promise<boolean> {
  const here = await surroundings();
  if (other.host !== here.host) return false;
  if (other.boot !== here.boot) return other.boot !== '' && here.boot !== '';
  if (other.namespace !== here.namespace) return false;
  if (isFreePid(other.pid)) return true;
  const started = await startOf(other.pid);
  // No start: a zombie, or gone since, or one that we may not look at (`hidepid`).
  if (started === undefined) return isFreePid(other.pid) || (await isZombie(other.pid));
  return other.started !== '' && started !== other.started;
}

/** A `ProcessIdentity` out of text that others may have damaged; `undefined` where it is none. */
export function toIdentity(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { host, boot, namespace, pid, started } = value as Partial<Record<keyof ProcessIdentity, unknown>>;
  if (typeof host !== 'string' || typeof boot !== 'string' || typeof namespace !== 'string') return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1 || typeof started !== 'string')
    return undefined;
  return { host, boot, namespace, pid, started };
}

/** Encodes a process as part of a file name, so that a kill at any instant leaves no file with an unknown creator. */
export function toNamePart({ host, boot, namespace, pid, started }: ProcessIdentity): string {
  return [host, boot, namespace, String(pid), started].map(encodeURIComponent).join('+');
}

/** The process in what `toNamePart` made, further `+` parts behind it ignored; `undefined` where there is none. */
export function fromNamePart(part: string): ProcessIdentity | undefined {
  try {
    const [host, boot, namespace, pid, started] = part.split('+').map(decodeURIComponent);
    return toIdentity({ host, boot, namespace, pid: Number(pid), started });
  } catch {
    return undefined;
  }
}

async function surroundings(): Promise<Pick<ProcessIdentity, 'host' | 'boot' | 'namespace'>> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return { host: hostname(), boot: boot.trim(), namespace };
}

function isFreePid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (fault) {
    return fault instanceof Error && 'code' in fault && fault.code === 'ESRCH';
  }
}

/** `undefined` where no such process can be seen. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const fields = await statFields(pid);
    return fields === undefined || hasEnded(fields) ? undefined : fields[19];
  }
  const { code, stdout } = await askPs(pid, 'lstart=');
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

async function isZombie(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const fields = await statFields(pid);
    return fields !== undefined && hasEnded(fields);
  }
  const { stdout } = await askPs(pid, 'stat=');
  return stdout.toString('utf8').trim().startsWith('Z');
}

/** `/proc/PID/stat` from field 3 on: counted behind the program's name, which may hold blanks and parentheses. */
async function statFields(pid: number): Promise<readonly string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function hasEnded([state]: readonly string[]): boolean {
  return state === 'Z' || state === 'X';
}

function askPs(pid: number, field: string) {
  return execFileBounded(['ps', '-o', field, '-p', String(pid)], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    maxBytes: 4096,
  });
}
