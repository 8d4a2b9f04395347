import { join } from 'node:path';
import { askGit, type GitDirectory, gitFailed, runGit } from './git.ts';
import { type ClaimedLock, commonDirOf } from './git-claim.ts';
import { askLockingGit } from './locking-git.ts';
import { hasNoRefsBelow, readRefFile } from './ref-files.ts';
import { requireRefName } from './ref-name.ts';
import { isObjectId, zeroIdOf } from './repository.ts';
import { lockedFault } from './stale-locks.ts';

/**
 * One move of one ref. `undefined` means "does not exist": as `old` it must not exist yet, as `new` it is deleted. The
 * same twice: it has to stay.
 */
export interface RefUpdate {
  readonly ref: string;
  readonly old: string | undefined;
  readonly new: string | undefined;
}

/**
 * All moved, or none: the refs that did not stand where they were expected. `already`: they stood at the new place
 * before.
 */
export type RefOutcome =
  | { readonly moved: true; readonly already?: true }
  | { readonly moved: false; readonly stale: readonly StaleRef[] };

export interface StaleRef {
  readonly ref: string;
  readonly expected: string | undefined;
  readonly found: string | undefined;
}

/**
 * Moves refs by compare-and-swap, all or none. A ref that stands elsewhere is a value; REF_INVALID for a name that is
 * none, GIT_FAILED for the rest (locked by another git for long, disk full). `message` goes into the reflog.
 */
export async function updateRefs(
  place: GitDirectory,
  updates: readonly RefUpdate[],
  message: string,
): Promise<RefOutcome> {
  const zero = zeroIdOf(place);
  const commands = ['start'];
  for (const update of updates) {
    requireRefName(update.ref);
    if (update.new !== undefined && update.new === update.old)
      commands.push(`verify ${update.ref}\0${update.old}`);
    else if (update.new === undefined) commands.push(`delete ${update.ref}\0${update.old ?? ''}`);
    else commands.push(`update ${update.ref}\0${update.new}\0${update.old ?? zero}`);
  }
  const input = `${[...commands, 'prepare', 'commit'].join('\0')}\0`;
  const args = ['update-ref', '--no-deref', '-z', '-m', message.replace(/\p{Cc}+/gu, ' '), '--stdin'];
  const { code, stderr, lock } = await askLockingGit(place, args, {
    input,
    locks: await locksOf(place, updates),
  });
  if (code === 0) return { moved: true };
  const stale = await findStale(place, updates);
  if (stale.length > 0) return { moved: false, stale };
  if (lock !== undefined) throw lockedFault(args[0], lock);
  throw gitFailed(args, code, stderr);
}

/** The object a full ref points to, `undefined` where it does not exist. */
export async function readRef(place: GitDirectory, ref: string): Promise<string | undefined> {
  const read = await readRefFile(place, requireRefName(ref));
  if (read !== undefined) return read.id;
  const { code, stdout } = await askGit(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', ref]);
  const id = stdout.toString('utf8').trim();
  return code === 0 && isObjectId(id) ? id : undefined;
}

/** Refs under a prefix (`refs/ai/runs/`), sorted by name. */
export async function listRefs(
  place: GitDirectory,
  prefix: string,
): Promise<readonly { readonly ref: string; readonly object: string }[]> {
  const stem = requireRefName(prefix.replace(/\/$/, ''));
  if (await hasNoRefsBelow(place, stem)) return [];
  const listed = await runGit(place, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    '--end-of-options',
    `${stem}/`,
  ]);
  return listed
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ object: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
}

/** What git locks: each ref; HEAD for its reflog, where it is on one of them; `packed-refs` to delete from it. */
async function locksOf(place: GitDirectory, updates: readonly RefUpdate[]): Promise<readonly ClaimedLock[]> {
  const commonDir = await commonDirOf(place);
  const locks: ClaimedLock[] = updates.map((update) => ({
    path: join(commonDir, `${update.ref}.lock`),
    contents: update.new === undefined ? [] : [`${update.new}\n`],
  }));
  locks.push({ path: join(place.gitDir, 'HEAD.lock'), contents: [] });
  if (updates.some((update) => update.new === undefined)) {
    const packed = join(commonDir, 'packed-refs');
    locks.push({ path: `${packed}.lock`, contents: [], with: `${packed}.new` });
  }
  return locks;
}

async function findStale(place: GitDirectory, updates: readonly RefUpdate[]): Promise<readonly StaleRef[]> {
  const stale: StaleRef[] = [];
  for (const { ref, old } of updates) {
    const found = await readRef(place, ref);
    if (found !== old) stale.push({ ref, expected: old, found });
  }
  return stale;
}
