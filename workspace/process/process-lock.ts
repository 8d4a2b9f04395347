/* Locks that a killed process does not keep, because a process is identified beyond its pid. */
import { readFileSync, readlinkSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import type { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { execFileBounded } from './spawn.ts';

/** A lock that this process holds. Releasing twice is harmless. */
export interface ProcessLock {
  release(): Promise<void>;
}

interface ProcessLockOptions {
  /** How long to wait for a living holder; default 0. */
  readonly waitMs?: number;
  readonly clock?: Clock;
  /** Builds the error for a lock that stays held; `undefined` if the holder is unknown. */
  readonly busy: (holder: ProcessIdentity | undefined) => WritError;
}

const maxPauseMs = 50;
const maxChanges = 100;

/**
 * Acquires the lock at `path` and waits at most `waitMs`. The parent directory is created. A held lock is only
 * replaced if its holder is proven dead. A process cannot acquire it twice. It uses link(2), so it fails on a file
 * system without hard links.
 *
 * A process succeeds a dead holder with a claim: a file named after the digest of that holder's record. So exactly
 * one process can create it. The last process in the chain of claims holds the lock, even if others were killed at
 * any instant.
 */
export async function acquireProcessLock(path: string, options: ProcessLockOptions): Promise<ProcessLock> {
  const { waitMs = 0, clock = systemClock, busy } = options;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const token = randomOctets(12).toString('hex');
  const self = await ownIdentity();
  const own = `${path}.${toNamePart(self)}+${token}`;
  const content = JSON.stringify({ ...self, token });
  await writeFile(own, content, { mode: 0o600, flag: 'wx', flush: true });
  const deadline = clock.monotonic() + waitMs;
  try {
    let pauseMs = 2;
    for (let changes = 0; ; ) {
      const outcome = await tryOnce(path, own, content);
      if (outcome === 'mine') {
        await sweep(path, own);
        return { release: () => release(path, content) };
      }
      if (outcome === 'again') {
        // Every change is somebody's progress; a link to nowhere looks like endless change.
        changes += 1;
        if (changes < maxChanges) continue;
      }
      if (clock.monotonic() >= deadline) throw busy(outcome === 'again' ? undefined : outcome.holder);
      changes = 0;
      await clock.sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  } finally {
    await rm(own, { force: true });
  }
}

/**
 * Returns true if a process, or the one with `pid`, holds the lock, as far as this machine can determine. A lock of a
 * killed process does not count.
 */
export async function isProcessLockHeld(path: string, pid?: number): Promise<boolean> {
  const last = (await readChain(path)).at(-1);
  if (last === undefined) return false;
  const holder = parseHolder(last);
  if (pid !== undefined && holder?.pid !== pid) return false;
  return holder === undefined || !(await isProvenDead(holder));
}

/** Returns true if a killed process left this lock, or its attempt to acquire it, and no process holds it now. */
export async function isProcessLockLeft(path: string): Promise<boolean> {
  const last = (await readChain(path)).at(-1);
  const holder = last === undefined ? undefined : parseHolder(last);
  if (last !== undefined) return holder !== undefined && (await isProvenDead(holder));
  return (await leftovers(path)).length > 0;
}

type Outcome = 'mine' | 'again' | { readonly holder: ProcessIdentity | undefined };

async function tryOnce(path: string, own: string, content: string): Promise<Outcome> {
  if (await tryLink(own, path)) return 'mine';
  const chain = await readChain(path);
  const last = chain.at(-1);
  if (last === undefined) return 'again';
  const holder = parseHolder(last);
  if (holder === undefined || !(await isProvenDead(holder))) return { holder };
  if (!(await tryLink(own, claimOn(path, last)))) return 'again';
  // The chain may have been shortened meanwhile. Then this claim is not attached to it.
  if ((await readChain(path)).at(-1) !== content) {
    await rm(claimOn(path, last), { force: true });
    return 'again';
  }
  await rename(own, path);
  for (const record of chain) await rm(claimOn(path, record), { force: true });
  return 'mine';
}

/** Called only by the holder. A process that has just created an unattached claim detects that it does not count. */
async function sweep(path: string, own: string): Promise<void> {
  for (const found of await leftovers(path)) if (found !== own) await rm(found, { force: true });
}

/** Returns claims, which are unattached if the lock is held or free, and drafts of dead processes. */
async function leftovers(path: string): Promise<readonly string[]> {
  const stem = `${basename(path)}.`;
  const found: string[] = [];
  for (const name of await readdir(dirname(path)).catch(() => [])) {
    if (!name.startsWith(stem)) continue;
    const maker = name.startsWith(`${stem}after-`) ? undefined : fromNamePart(name.slice(stem.length));
    if (name.startsWith(`${stem}after-`) || (maker !== undefined && (await isProvenDead(maker))))
      found.push(join(dirname(path), name));
  }
  return found;
}

/** Returns the records from the first holder to the current one; empty if no process holds the lock. */
async function readChain(path: string): Promise<readonly string[]> {
  const chain: string[] = [];
  for (let next = await readText(path); next !== undefined; next = await readText(claimOn(path, next)))
    chain.push(next);
  return chain;
}

function claimOn(path: string, record: string): string {
  return `${path}.after-${sha256Hex(record).slice(0, 32)}`;
}

/** Absent is an answer; a lock that cannot be read is somebody's. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
    throw fault;
  }
}

/** `link` fails where the name exists, and the content is whole from the first moment on. */
async function tryLink(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'EEXIST') return false;
    throw fault;
  }
}

async function release(path: string, content: string): Promise<void> {
  if ((await readText(path)) === content) await rm(path, { force: true });
}

function parseHolder(text: string): ProcessIdentity | undefined {
  try {
    return toIdentity(JSON.parse(text));
  } catch {
    return undefined;
  }
}

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
  return { ...surroundings(), pid, started: (await startOf(pid)) ?? '' };
}

/**
 * Returns true only if the process is proven dead. It must be from the same machine, and the machine has rebooted
 * since, or the pid is free or belongs to a younger process. A process on another machine or in another pid namespace
 * counts as alive, because its state is unknown.
 */
export async function isProvenDead(other: ProcessIdentity): Promise<boolean> {
  const { host, boot, namespace } = surroundings();
  if (other.host !== host) return false;
  if (other.boot !== boot) return other.boot !== '' && boot !== '';
  if (other.namespace !== namespace) return false;
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

let here: Pick<ProcessIdentity, 'host' | 'boot' | 'namespace'> | undefined;

/** The same for the life of this process. */
function surroundings(): Pick<ProcessIdentity, 'host' | 'boot' | 'namespace'> {
  here ??= {
    host: hostname(),
    boot: readOr('/proc/sys/kernel/random/boot_id', '').trim(),
    namespace: ownNamespace(),
  };
  return here;
}

function ownNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readOr<T>(path: string, other: T): string | T {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return other;
  }
}

/** Whether no process has this id now. */
export function isFreePid(pid: number): boolean {
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
    const fields = statFields(pid);
    return fields === undefined || hasEnded(fields) ? undefined : fields[19];
  }
  const { code, stdout } = await askPs(pid, 'lstart=');
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

async function isZombie(pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    const fields = statFields(pid);
    return fields !== undefined && hasEnded(fields);
  }
  const { stdout } = await askPs(pid, 'stat=');
  return stdout.toString('utf8').trim().startsWith('Z');
}

/** `/proc/PID/stat` from field 3 on: counted behind the program's name, which may hold blanks and parentheses. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = readOr(`/proc/${pid}/stat`, undefined);
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
