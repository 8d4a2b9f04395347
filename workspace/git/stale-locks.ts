import type { BigIntStats } from 'node:fs';
import { link, lstat, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { acquireProcessLock, isProcessLockLeft } from '../process/process-lock.ts';
import type { GitDirectory } from './git.ts';
import { type ClaimedLock, claimsDirectory, type FoundClaim, readClaims } from './git-claim.ts';

/** A lock that a git of ours took was taken no later after the last sign of life of the process that started it. */
const slackMs = 500;
/** Two readings of one instant may differ by what a double cannot hold. */
const roundingMs = 1;
const removerWaitMs = 5_000;
const orphanWaitMs = 120_000;
const maxLockBytes = 256n;

/**
 * Removes what killed processes of ours left of git's locks in this repository, and their claims. A lock is removed
 * only where a claim names it, all processes of that claim are proven dead, and the file is what they would have left.
 * Everybody else's locks stay.
 */
export async function removeStaleLocks(
  place: Pick<GitDirectory, 'gitDir'>,
  /** A claim of this process all of whose gits have ended. */
  ended?: string,
): Promise<void> {
  const isOver = (claim: FoundClaim): boolean => isPast(claim) || claim.path === ended;
  const directory = await claimsDirectory(place);
  const isNeeded =
    (await readClaims(place)).some(isOver) || (await isProcessLockLeft(join(directory, 'remover')));
  if (!isNeeded) return;
  // One remover at a time: what was judged stale cannot have become another's lock before it is removed.
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

/** Waits for gits whose starter was killed, then removes what is stale. GIT_FAILED where one does not end. */
export async function settleGit(
  place: Pick<GitDirectory, 'gitDir'>,
  clock: Clock = systemClock,
  waitMs: number = orphanWaitMs,
): Promise<void> {
  const deadline = clock.monotonic() + waitMs;
  for (;;) {
    const orphan = (await readClaims(place)).find(({ state }) => state === 'orphaned');
    if (orphan === undefined) return removeStaleLocks(place);
    if (clock.monotonic() > deadline) {
      const pids = orphan.work.processes.slice(1).map(({ pid }) => pid);
      throw new WritError('GIT_FAILED', {
        message: `a git that was started by a killed process (pid ${pids.join(', ')}) does not end`,
        detail: { pids, claim: orphan.path },
        hints: ['end that process and try again'],
      });
    }
    await clock.sleep(20);
  }
}

/** True where a lock that is a hard link of its claim is held by a writ that lives. */
export async function isHeldByUs(place: Pick<GitDirectory, 'gitDir'>, path: string): Promise<boolean> {
  const found = await statOf(path);
  const claims = await readClaims(place);
  return claims.some(
    ({ state, inode, device }) =>
      (state === 'working' || state === 'orphaned') && inode === found?.ino && device === found.dev,
  );
}

/** The lock that git says is in its way, `undefined` where something else went wrong. */
export function lockInTheWay(stderr: string): string | undefined {
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

function isPast({ state }: FoundClaim): boolean {
  return state === 'dead';
}

async function removeIfStale(lock: ClaimedLock, claim: FoundClaim, directory: string): Promise<void> {
  const found = await statOf(lock.path);
  if (found === undefined || !(await isLeftBy(lock, claim, found))) return;
  // While the lock stands nobody else writes this one.
  if (lock.with !== undefined) await rm(lock.with, { force: true });
  const away = join(directory, `away-${randomOctets(8).toString('hex')}`);
  await rename(lock.path, away);
  const moved = await statOf(away);
  // Someone removed it by hand, and another took the lock, in the instant between.
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
