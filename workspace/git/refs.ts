/* Reads and lists refs, and moves them by compare-and-swap. */
import { join } from 'node:path';
import { type GitDirectory, gitFailed, maxListBytes, runGit } from './git.ts';
import { askLockingGit, type ClaimedLock, commonDirOf, lockedFault } from './locks.ts';
import { hasNoRefsBelow, type ListedRef, readRefFile } from './ref-files.ts';
import { requireRefName } from './ref-name.ts';
import { resolveId, zeroIdOf } from './repository.ts';

/**
 * One move of a ref. `undefined` is "does not exist": as `old` it must not exist yet, as `new` it is deleted. Equal
 * ids: the ref must not move.
 */
export interface RefUpdate {
  readonly ref: string;
  readonly old: string | undefined;
  readonly new: string | undefined;
}

/** All moved, or none. `stale`: the refs that had another value. `already`: they had the new value before. */
export type RefOutcome =
  | { readonly moved: true; readonly already?: true }
  | { readonly moved: false; readonly stale: readonly StaleRef[] };

export interface StaleRef {
  readonly ref: string;
  readonly expected: string | undefined;
  readonly found: string | undefined;
}

/**
 * Moves refs by compare-and-swap, all or none. Another value is a result; REF_INVALID for an invalid name, GIT_FAILED
 * for the rest (locked by another git for long, disk full). `message` goes into the reflog.
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
  const read = readRefFile(place, requireRefName(ref));
  return read === undefined ? resolveId(place, ref) : read.id;
}

/** Refs under a prefix (`refs/ai/runs/`), sorted by name. */
export async function listRefs(place: GitDirectory, prefix: string): Promise<readonly ListedRef[]> {
  const stem = requireRefName(prefix.replace(/\/$/, ''));
  return hasNoRefsBelow(place, stem) ? [] : matchRefs(place, [`${stem}/`]);
}

/** Refs that match one of the patterns of `git for-each-ref`, sorted by name; without patterns all of them. */
export async function matchRefs(
  place: GitDirectory,
  patterns: readonly string[] = [],
): Promise<readonly ListedRef[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', '--end-of-options', ...patterns];
  return (await runGit(place, args, { maxBytes: maxListBytes }))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ object: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
}

/** git locks each ref, HEAD for its reflog if it is on one of them, and `packed-refs` for a deletion. */
async function locksOf(place: GitDirectory, updates: readonly RefUpdate[]): Promise<readonly ClaimedLock[]> {
  const commonDir = commonDirOf(place);
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

/** Mirrors of logs: `refs/ai/ledger/<encoded origin>`. */
export const logPrefix = 'refs/ai/ledger/';

export function isLogRef(ref: string): boolean {
  return ref.length > logPrefix.length && ref.startsWith(logPrefix);
}

/** The version of a log that a remote had at the last push or fetch; a local ref. */
export function publishedLogRef(ref: string): string {
  return `refs/writ/ledger-published/${ref.slice(logPrefix.length)}`;
}

/** The version of a log at a remote that does not continue the one here; a local ref. */
export function fetchedLogRef(ref: string): string {
  return `refs/writ/ledger-fetched/${ref.slice(logPrefix.length)}`;
}

/** The mirror ref of a proof's log, and why its run must not be published, if so. */
export interface ProofStanding {
  readonly log: string;
  readonly fault?: string;
}
