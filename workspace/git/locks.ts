/* Records which git locks this process may hold, and removes those that killed processes of ours left. */
import type { BigIntStats } from 'node:fs';
import { link, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import {
  acquireProcessLock,
  fromNamePart,
  identityOf,
  isProcessLockLeft,
  isProvenDead,
  ownIdentity,
  type ProcessIdentity,
  toIdentity,
  toNamePart,
} from '../process/process-lock.ts';
import type { StartedProcess } from '../process/spawn.ts';
import { type GitAnswer, type GitDirectory, startGatedGit, withGit } from './git.ts';

/** A lock file of git that a process of ours may hold. */
export interface ClaimedLock {
  readonly path: string;
  /**
   * What our git writes into it; it may also be empty. Absent: the lock is a hard link of the claim, which proves
   * that it is ours.
   */
  readonly contents?: readonly string[];
  /** A file that only the holder of the lock writes. If it is left over, it blocks like the lock. */
  readonly with?: string;
}

interface ClaimedWork {
  readonly locks: readonly ClaimedLock[];
  /** Files that are useless once all processes have ended. */
  readonly litter: readonly string[];
  /** This process first, then the gits that it started. */
  readonly processes: readonly ProcessIdentity[];
  /** Modification time of the new claim, by the clock of the file system. */
  readonly sinceMs: number;
}

interface OpenClaim {
  readonly path: string;
  /** Adds a git process, before it may begin. */
  add(pid: number): Promise<void>;
  /** Records that this process lives: a lock that is much younger than the last beat is not ours. */
  beat(): Promise<void>;
  end(): Promise<void>;
}

/**
 * `working`: its maker lives; `orphaned`: only a git of it lives; `dead`: all have ended; `unreadable`: not complete
 * (yet).
 */
interface FoundClaim {
  readonly path: string;
  readonly state: 'working' | 'orphaned' | 'dead' | 'unreadable';
  readonly work: ClaimedWork;
  readonly beatMs: number;
  readonly inode: bigint;
  readonly device: bigint;
}

/** Claims are shared by linked working trees. */
export function claimsDirectory(place: Pick<GitDirectory, 'gitDir'>): string {
  return join(commonDirOf(place), 'writ', 'git-locks');
}

const maxPathBytes = 4096;

export function commonDirOf({ gitDir }: Pick<GitDirectory, 'gitDir'>): string {
  const named = readPlain(join(gitDir, 'commondir'), maxPathBytes).bytes?.toString('utf8');
  return named === undefined ? gitDir : resolve(gitDir, named.replace(/\n$/, ''));
}

/** Records which locks this process and its gits may hold, before any is acquired. */
export async function openClaim(
  place: Pick<GitDirectory, 'gitDir'>,
  work: (token: string) => Pick<ClaimedWork, 'locks' | 'litter'>,
): Promise<OpenClaim> {
  const directory = claimsDirectory(place);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const token = randomOctets(12).toString('hex');
  const who = await ownIdentity();
  const path = join(directory, `${toNamePart(who)}+${token}.json`);
  const file = await open(path, 'ax', 0o600);
  try {
    const sinceMs = (await file.stat()).mtimeMs;
    await file.write(`${JSON.stringify({ ...work(token), sinceMs, who })}\n`);
  } catch (fault) {
    await file.close();
    await rm(path, { force: true });
    throw fault;
  }
  return {
    path,
    async add(pid) {
      await file.write(`${JSON.stringify({ who: await identityOf(pid) })}\n`);
    },
    async beat() {
      await file.write('\n');
    },
    async end() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

async function readClaims(place: Pick<GitDirectory, 'gitDir'>): Promise<readonly FoundClaim[]> {
  const directory = claimsDirectory(place);
  const names = await readdir(directory).catch(() => []);
  const found: FoundClaim[] = [];
  for (const name of names) {
    if (!/\+[0-9a-f]{24}\.json$/.test(name)) continue;
    const claim = await readClaim(join(directory, name), commonDirOf(place));
    if (claim) found.push(claim);
  }
  return found;
}

async function readClaim(path: string, commonDir: string): Promise<FoundClaim | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  // The claim ended in the meantime.
  if (stat === undefined || text === undefined) return undefined;
  const work = parseClaim(text, commonDir);
  const found = { path, beatMs: Number(stat.mtimeNs) / 1e6, inode: stat.ino, device: stat.dev };
  if (work === undefined) {
    // It is incomplete and claims no lock; only its name identifies the process that made it.
    const maker = fromNamePart(basename(path));
    const state = maker !== undefined && (await isProvenDead(maker)) ? 'dead' : 'unreadable';
    return { ...found, state, work: { locks: [], litter: [], processes: [], sinceMs: 0 } };
  }
  const alive = await Promise.all(work.processes.map(async (one) => !(await isProvenDead(one))));
  const state = alive[0] ? 'working' : alive.includes(true) ? 'orphaned' : 'dead';
  return { ...found, state, work };
}

/** A torn line behind the first is a git that never began. */
function parseClaim(text: string, commonDir: string): ClaimedWork | undefined {
  const [first, ...more] = text.split('\n').map(parseLine);
  const { locks, litter, sinceMs } = first ?? {};
  const maker = toIdentity(first?.who);
  if (maker === undefined || !Array.isArray(locks) || !Array.isArray(litter) || typeof sinceMs !== 'number')
    return undefined;
  const isInside = (path: unknown): path is string =>
    typeof path === 'string' && isAbsolute(path) && resolve(path).startsWith(`${commonDir}/`);
  const isLock = (lock: Partial<Record<keyof ClaimedLock, unknown>>): boolean =>
    isInside(lock.path) &&
    lock.path.endsWith('.lock') &&
    (lock.with === undefined || isInside(lock.with)) &&
    (lock.contents === undefined || Array.isArray(lock.contents));
  if (!locks.every(isLock) || !litter.every(isInside)) return undefined;
  const children = more.map((line) => toIdentity(line?.who)).filter((one) => one !== undefined);
  return { locks, litter, sinceMs, processes: [maker, ...children] };
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

interface LockingCall {
  readonly input: string;
  readonly locks: readonly ClaimedLock[];
  /** How long to wait for a lock of another process; default 5 s. */
  readonly waitMs?: number;
}

const defaultWaitMs = 5_000;
const beatEveryMs = 100;
const maxPauseMs = 200;
const maxAnswerBytes = 1024 * 1024;
const maxErrorText = 2_000;
/** Higher exit codes report a signal. */
const signalled = 128;

/**
 * Runs a git that acquires locks, so that no lock stays behind if it or this process is killed: the locks are claimed
 * first, those of dead processes of ours are removed, and the process waits for those of living ones. `lock`: the one
 * that was still held at the end.
 */
export async function askLockingGit(
  place: GitDirectory,
  args: readonly string[],
  call: LockingCall,
): Promise<GitAnswer & { readonly lock?: string }> {
  const deadline = systemClock.monotonic() + (call.waitMs ?? defaultWaitMs);
  await removeStaleLocks(place);
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    const answer = await askOnce(place, args, call);
    const lock = answer.code === 0 ? undefined : lockInTheWay(answer.stderr);
    if (lock === undefined) return answer;
    await removeStaleLocks(place);
    if (systemClock.monotonic() >= deadline) return { ...answer, lock };
    await systemClock.sleep(pauseMs);
  }
}

async function askOnce(place: GitDirectory, args: readonly string[], call: LockingCall): Promise<GitAnswer> {
  const claim = await openClaim(place, () => ({ locks: call.locks, litter: [] }));
  try {
    const answer = await askUnderClaim(claim, place, args, call.input);
    if (answer.code > signalled) await removeStaleLocks(place, claim.path);
    return answer;
  } finally {
    await claim.end();
  }
}

/** Runs a git that is recorded in `claim` before it begins. */
export async function askUnderClaim(
  claim: OpenClaim,
  place: GitDirectory,
  args: readonly string[],
  input: string | Uint8Array = '',
): Promise<GitAnswer> {
  const git = startGatedGit(place, args);
  const stdout = readBounded(git);
  const beating = setInterval(() => claim.beat().catch(() => undefined), beatEveryMs);
  try {
    if (git.pid !== undefined) await claim.add(git.pid);
    git.open(input);
    const { code, stderr } = await withGit(() => git.exited);
    // The shell's exit code for a missing program.
    if (code === 127) throw new WritError('GIT_MISSING');
    return { code, stdout: await stdout, stderr: stderr.toString('utf8').slice(0, maxErrorText) };
  } finally {
    clearInterval(beating);
    git.kill();
  }
}

async function readBounded(git: StartedProcess): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of git.stdout) {
    bytes += chunk.length;
    if (bytes <= maxAnswerBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A lock of our git is not older than this after the last beat of the process that started it. */
const slackMs = 500;
/** Rounding of a timestamp in a double. */
const roundingMs = 1;
const removerWaitMs = 5_000;
const orphanWaitMs = 120_000;
const maxLockBytes = 256n;

/**
 * Removes the git locks that killed processes of ours left in this repository, and their claims. A lock is removed
 * only if a claim names it, all processes of that claim are proven dead, and the file has the expected content. All
 * other locks stay.
 */
export async function removeStaleLocks(
  place: Pick<GitDirectory, 'gitDir'>,
  /** A claim of this process with no running git left. */
  ended?: string,
): Promise<void> {
  const isOver = ({ state, path }: FoundClaim): boolean => state === 'dead' || path === ended;
  const directory = claimsDirectory(place);
  const isNeeded =
    (await readClaims(place)).some(isOver) || (await isProcessLockLeft(join(directory, 'remover')));
  if (!isNeeded) return;
  // One remover at a time: a stale lock must not become the lock of another process before it is removed.
  const remover = await acquireProcessLock(join(directory, 'remover'), {
    waitMs: removerWaitMs,
    busy: (holder) =>
      new WritError('GIT_FAILED', {
        message: 'another process has been removing stale locks for a long time',
        detail: { path: join(directory, 'remover'), ...(holder === undefined ? {} : { pid: holder.pid }) },
      }),
  });
  try {
    for (const name of await readdir(directory))
      if (name.startsWith('away-')) await rm(join(directory, name), { force: true });
    for (const claim of (await readClaims(place)).filter(isOver)) {
      for (const lock of claim.work.locks) await removeIfStale(lock, claim, directory);
      for (const path of claim.work.litter) await rm(path, { force: true });
      await rm(claim.path, { force: true });
    }
  } finally {
    await remover.release();
  }
}

/** Waits for git processes with a killed starter, then removes stale locks. GIT_FAILED if one does not end. */
export async function settleGit(place: Pick<GitDirectory, 'gitDir'>, waitMs = orphanWaitMs): Promise<void> {
  const deadline = systemClock.monotonic() + waitMs;
  for (;;) {
    const orphan = (await readClaims(place)).find(({ state }) => state === 'orphaned');
    if (orphan === undefined) return removeStaleLocks(place);
    if (systemClock.monotonic() > deadline) {
      const pids = orphan.work.processes.slice(1).map(({ pid }) => pid);
      throw new WritError('GIT_FAILED', {
        message: `a git that was started by a killed process (pid ${pids.join(', ')}) does not end`,
        detail: { pids, claim: orphan.path },
        hints: ['end that process and try again'],
      });
    }
    await systemClock.sleep(20);
  }
}

/** True if the lock is a hard link of a claim with live processes. */
export async function isHeldByUs(place: Pick<GitDirectory, 'gitDir'>, path: string): Promise<boolean> {
  const found = await statOf(path);
  const claims = await readClaims(place);
  return claims.some(
    ({ state, inode, device }) =>
      (state === 'working' || state === 'orphaned') && inode === found?.ino && device === found.dev,
  );
}

/** The lock that git reports as held; `undefined` for another failure. */
function lockInTheWay(stderr: string): string | undefined {
  const found = /Unable to create '(.+\.lock)': File exists/.exec(stderr)?.[1];
  return found ?? /unable to create file (.+\/packed-refs\.new): File exists/.exec(stderr)?.[1];
}

/** The fault for a lock that stays held. */
export function lockedFault(command: string | undefined, path: string): WritError {
  return new WritError('GIT_FAILED', {
    message: `\`git ${command ?? ''}\` failed: \`${path}\` exists, another git process works in this repository`,
    detail: { command, lock: path },
    hints: [
      'wait for the other git to end and try again',
      `if none is running, it was killed: remove \`${path}\``,
    ],
  });
}

async function removeIfStale(lock: ClaimedLock, claim: FoundClaim, directory: string): Promise<void> {
  const found = await statOf(lock.path);
  if (found === undefined || !(await isLeftBy(lock, claim, found))) return;
  // While the lock exists no other process writes this file.
  if (lock.with !== undefined) await rm(lock.with, { force: true });
  const away = join(directory, `away-${randomOctets(8).toString('hex')}`);
  await rename(lock.path, away);
  const moved = await statOf(away);
  // Meanwhile the user removed it by hand and another process acquired it.
  if (moved === undefined || !isSame(moved, found)) await link(away, lock.path).catch(() => undefined);
  await rm(away, { force: true });
}

async function isLeftBy(lock: ClaimedLock, claim: FoundClaim, found: BigIntStats): Promise<boolean> {
  if (!found.isFile()) return false;
  if (lock.contents === undefined) return found.ino === claim.inode && found.dev === claim.device;
  const writtenMs = Number(found.mtimeNs) / 1e6;
  const isInTime = writtenMs >= claim.work.sinceMs - roundingMs && writtenMs <= claim.beatMs + slackMs;
  if (!isInTime || found.size > maxLockBytes) return false;
  const text = await readFile(lock.path, 'latin1').catch(() => undefined);
  return text === '' || (text !== undefined && lock.contents.some((content) => content.startsWith(text)));
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev && one.mtimeNs === other.mtimeNs;
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  return lstat(path, { bigint: true }).catch(() => undefined);
}
