import { link, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import type { GitAnswer } from './git.ts';
import { openClaim } from './git-claim.ts';
import { askUnderClaim } from './locking-git.ts';
import type { Repository } from './repository.ts';
import { isHeldByUs, lockedFault, removeStaleLocks } from './stale-locks.ts';

/** The index while its lock is ours: a copy that nobody else sees until it is kept. */
export interface HeldIndex {
  /** The repository with the copy as its index. */
  readonly repo: Repository;
  /** Runs a git that may change the copy. */
  ask(args: readonly string[], input?: string | Uint8Array): Promise<GitAnswer>;
  /** Makes the copy the index when the work is over. */
  keep(): void;
}

export interface IndexOptions {
  readonly clock?: Clock;
  /**
   * How long another git's lock is waited for; default 5 s. One of another writ is waited for as long as it works, at
   * most 120 s.
   */
  readonly waitMs?: number;
}

const defaultWaitMs = 5_000;
const longestWaitMs = 120_000;
const maxPauseMs = 200;

/**
 * Works on the index of this work tree under git's own `index.lock`. The lock is a hard link of our claim: whose it is
 * can be told for certain after a kill. GIT_FAILED, naming the lock, where another git holds it.
 */
export async function withIndex<T>(
  repo: Repository,
  options: IndexOptions,
  work: (index: HeldIndex) => Promise<T>,
): Promise<T> {
  await removeStaleLocks(repo);
  const path = join(repo.gitDir, 'index');
  const lock = `${path}.lock`;
  let copy = '';
  const claim = await openClaim(repo, (token) => {
    copy = join(repo.gitDir, `writ-index-${token}`);
    return { locks: [{ path: lock }], litter: [copy, `${copy}.lock`] };
  });
  try {
    await takeLock(repo, claim.path, lock, options);
    try {
      // A link keeps the time stamp, by which git knows what may have changed since.
      await link(path, copy).catch(ignore('ENOENT'));
      const held = { ...repo, env: { ...repo.env, GIT_INDEX_FILE: copy } };
      let kept = false;
      const answer = await work({
        repo: held,
        ask: (args, input) => askUnderClaim(claim, held, args, input),
        keep: () => {
          kept = true;
        },
      });
      if (kept) await rename(copy, path).catch(ignore('ENOENT'));
      return answer;
    } finally {
      await rm(copy, { force: true });
      await rm(`${copy}.lock`, { force: true });
      // Where somebody took it away by hand, another may hold it by now.
      if (await isSameFile(claim.path, lock)) await rm(lock, { force: true });
    }
  } finally {
    await claim.end();
  }
}

/** Works with an index of its own outside of the repository, which is empty at first and removed at the end. */
export async function withEmptyIndex<T>(
  repo: Repository,
  work: (place: Repository) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'writ-index-'));
  try {
    return await work({
      ...repo,
      env: { ...repo.env, GIT_INDEX_FILE: join(directory, 'index') },
      // A split index has a second file, in the git directory.
      settings: [...repo.settings, ['core.splitIndex', 'false']],
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function takeLock(
  repo: Repository,
  claim: string,
  lock: string,
  { clock = systemClock, waitMs = defaultWaitMs }: IndexOptions,
): Promise<void> {
  const started = clock.monotonic();
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      await link(claim, lock);
      return;
    } catch (fault) {
      ignore('EEXIST')(fault);
    }
    await removeStaleLocks(repo);
    const waited = clock.monotonic() - started;
    const limit = (await isHeldByUs(repo, lock)) ? Math.max(waitMs, longestWaitMs) : waitMs;
    if (waited >= limit) throw lockedFault('read-tree', lock);
    await clock.sleep(pauseMs);
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([one, other].map((path) => lstat(path).catch(() => undefined)));
  return left !== undefined && left.ino === right?.ino && left.dev === right.dev;
}

function ignore(code: string): (fault: unknown) => void {
  return (fault) => {
    if (!(fault instanceof Error && 'code' in fault && fault.code === code)) throw fault;
  };
}
