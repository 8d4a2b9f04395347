/* Changes the git index under its lock, and reads it and the differences between trees. */
import { link, lstat, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type GitAnswer, type GitDirectory, gitFields } from './git.ts';
import type { NameEncoding } from './git-object.ts';
import { askUnderClaim, isHeldByUs, lockedFault, openClaim, removeStaleLocks } from './locks.ts';
import { type Repository, zeroIdOf } from './repository.ts';
import { inTemporaryDirectory } from './scratch.ts';

/** A copy of the index, while we hold its lock. No other process sees the copy until it is kept. */
export interface HeldIndex {
  /** The repository with the copy as its index. */
  readonly repo: Repository;
  ask(args: readonly string[], input?: string | Uint8Array): Promise<GitAnswer>;
  /** The copy replaces the index when the work ends. */
  keep(): void;
}

const defaultWaitMs = 5_000;
const longestWaitMs = 120_000;
const maxPauseMs = 200;

/**
 * Works on the index of this working tree under git's own `index.lock`. The lock is a hard link of our claim, which
 * proves after a kill that it is ours. `waitMs`: how long to wait for the lock of another git; for that of another
 * writ the wait lasts as long as it works, at most 120 s. GIT_FAILED, naming the lock, if another git still holds it.
 */
export async function withIndex<T>(
  repo: Repository,
  work: (index: HeldIndex) => Promise<T>,
  waitMs = defaultWaitMs,
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
    await takeLock(repo, claim.path, lock, waitMs);
    try {
      // A link keeps the timestamp, which git compares with those of the files.
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
      // If the user removed the lock by hand, another process may hold it now.
      if (await isSameFile(claim.path, lock)) await rm(lock, { force: true });
    }
  } finally {
    await claim.end();
  }
}

/** Works with an empty index outside of the repository, which is removed at the end. */
export function withEmptyIndex<T>(repo: Repository, work: (place: Repository) => Promise<T>): Promise<T> {
  return inTemporaryDirectory('index', (directory) =>
    work({
      ...repo,
      env: { ...repo.env, GIT_INDEX_FILE: join(directory, 'index') },
      // A split index has a second file in the git directory.
      settings: [...repo.settings, ['core.splitIndex', 'false']],
    }),
  );
}

async function takeLock(repo: Repository, claim: string, lock: string, waitMs: number): Promise<void> {
  const started = systemClock.monotonic();
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      await link(claim, lock);
      return;
    } catch (fault) {
      ignore('EEXIST')(fault);
    }
    await removeStaleLocks(repo);
    const waited = systemClock.monotonic() - started;
    const limit = (await isHeldByUs(repo, lock)) ? Math.max(waitMs, longestWaitMs) : waitMs;
    if (waited >= limit) throw lockedFault('read-tree', lock);
    await systemClock.sleep(pauseMs);
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([one, other].map((path) => lstat(path).catch(() => undefined)));
  return left !== undefined && left.ino === right?.ino && left.dev === right.dev;
}

function ignore(code: string): (fault: unknown) => void {
  return (fault) => {
    if ((fault as NodeJS.ErrnoException).code !== code) throw fault;
  };
}

/** Mode and object of each path (as bytes) in the index; `unmerged` for an unmerged path. */
export async function readIndex(place: GitDirectory): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const record of await gitFields(place, ['ls-files', '-s', '-z'], 'latin1')) {
    const [, mode = '', object = '', stage = '', path = ''] = /^(\d+) (\w+) (\d)\t(.*)$/s.exec(record) ?? [];
    if (path !== '') found.set(path, stage === '0' ? keyOf({ mode, object }) : 'unmerged');
  }
  return found;
}

export function keyOf(side: EntrySide | undefined): string {
  return side === undefined ? '' : `${side.mode} ${side.object}`;
}

/** The side of a value of `readIndex`; `undefined` if there is none. */
export function toSide(key: string | undefined): EntrySide | undefined {
  const [mode = '', object] = key?.split(' ') ?? [];
  return object === undefined ? undefined : { mode, object };
}

/** Sets these entries in the held index; one without a side is removed. */
export async function setEntries(
  index: HeldIndex,
  entries: readonly Pick<ChangedEntry, 'path' | 'after'>[],
): Promise<void> {
  await askIndex(index, ['update-index', '-z', '--index-info'], toIndexInfo(index.repo, entries));
}

/** Writes these paths of the held index to the working tree. */
export async function checkOut(
  index: HeldIndex,
  entries: readonly Pick<ChangedEntry, 'path'>[],
): Promise<void> {
  await askIndex(index, ['checkout-index', '--force', '-u', '-z', '--stdin'], listed(entries));
}

/** Input for `askIndex`: these paths, each ended by NUL. */
export function listed(entries: readonly Pick<ChangedEntry, 'path'>[]): string {
  return entries.map(({ path }) => `${path}\0`).join('');
}

/** Input for `update-index --index-info`; a path without a side is removed. */
export function toIndexInfo(
  place: GitDirectory,
  entries: readonly Pick<ChangedEntry, 'path' | 'after'>[],
): string {
  const none = `0 ${zeroIdOf(place)}`;
  return entries
    .map(({ path, after }) => `${after === undefined ? none : `${after.mode} ${after.object}`}\t${path}\0`)
    .join('');
}

/** Runs a git that changes the held index, if there is input. GIT_FAILED. */
export async function askIndex(index: HeldIndex, args: readonly string[], input: string): Promise<void> {
  if (input === '') return;
  const { code, stderr } = await index.ask(args, Buffer.from(input, 'latin1'));
  if (code === 0) return;
  throw new WritError('GIT_FAILED', {
    message: `\`git ${args[0]}\` failed: ${stderr.trim().slice(0, 500)}`,
    detail: { command: args[0], exitCode: code, stderr },
  });
}

export interface EntrySide {
  /** Six octal digits. */
  readonly mode: string;
  readonly object: string;
}

/** A path at which two trees differ; a side is `undefined` if the path is missing there. */
export interface ChangedEntry {
  readonly path: string;
  readonly before: EntrySide | undefined;
  readonly after: EntrySide | undefined;
}

/**
 * The files that differ between two trees or commits, in git's order; a rename is two entries. With `latin1` paths
 * are bytes, as an index or the file system needs them.
 */
export async function changedEntries(
  place: GitDirectory,
  before: string,
  after: string,
  names: NameEncoding = 'utf8',
): Promise<readonly ChangedEntry[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff', '--end-of-options', before, after];
  const fields = await gitFields(place, args, names);
  const entries: ChangedEntry[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = ''] = (fields[at] ?? '')
      .slice(1)
      .split(' ');
    entries.push({
      path: fields[at + 1] ?? '',
      before: toEntrySide(oldMode, oldObject),
      after: toEntrySide(newMode, newObject),
    });
  }
  return entries;
}

function toEntrySide(mode: string, object: string): EntrySide | undefined {
  return mode === '000000' ? undefined : { mode, object };
}

/**
 * Paths as bytes: git stores a file name as bytes, here one latin1 character for each. Two such names can decode to
 * the same text, and text cannot always be turned back into the name.
 */

/** Path of a file below `root`, for `node:fs`. */
export function fileAt(root: string, bytePath: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytePath, 'latin1')]);
}

export function toBytePath(path: string): string {
  return Buffer.from(path).toString('latin1');
}

/** For messages and records; bytes that are not UTF-8 become U+FFFD. */
export function toTextPath(bytePath: string): string {
  return Buffer.from(bytePath, 'latin1').toString('utf8');
}

/** True if the text may be the decoded form of a name that is not UTF-8. */
export function mayBeLossy(path: string): boolean {
  return path.includes('\uFFFD');
}
