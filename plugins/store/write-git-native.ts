/* Writes versions of the store `git-native`. */
import { rm } from 'node:fs/promises';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { RefWrite, WriteTree } from '../../core/interfaces/store.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { adoptObjects } from '../../workspace/git/import-objects.ts';
import { writeObjects } from '../../workspace/git/packs.ts';
import { describeObjects } from '../../workspace/git/read-objects.ts';
import { type RefUpdate, readRef, updateRefs } from '../../workspace/git/refs.ts';
import { isObjectId, type Repository } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { importTree, type NewObject, type ObjectPlace } from '../../workspace/git/write-tree.ts';

export interface GitNativeOptions {
  readonly clock: Clock;
  /** Name on the commits; default `writ`. */
  readonly actorId?: string;
}

/** `ObjectStore.writeTree` of a store in git; returns the commit. */
export async function writeGitNative(
  repo: Repository,
  ref: string,
  write: WriteTree,
  options: GitNativeOptions,
): Promise<string> {
  return (await writeAllGitNative(repo, [[ref, write]], options))[0] as string;
}

/** One import of all objects, and one transaction of the refs in the given order; returns the commits. */
export async function writeAllGitNative(
  repo: Repository,
  writes: readonly RefWrite[],
  options: GitNativeOptions,
): Promise<readonly string[]> {
  const moves = await Promise.all(
    writes.map(async ([ref, write]) => {
      const current = await readRef(repo, ref);
      const old = write.expectedOld === undefined ? current : (write.expectedOld ?? undefined);
      // A repeatable write that is not current may be this very one, made by a process that was stopped right after it.
      if (old !== current && write.atMs === undefined) throw conflict(ref, old, current);
      return { ref, write, current, old };
    }),
  );
  const refs = writes.map(([ref]) => `\`${ref}\``).join(', ');
  try {
    const commits = await importCommits(repo, moves, options);
    const left = moves.flatMap(({ ref, current, old }, at) => {
      const commit = commits[at] as string;
      if (commit === current) return [];
      if (old !== current) throw conflict(ref, old, current);
      return [{ ref, old, new: commit }];
    });
    await moveAll(repo, left, writes[0]?.[1].message ?? '');
    return commits;
  } catch (cause) {
    if (isWritError(cause, 'EVIDENCE_WRITE_FAILED') || isWritError(cause, 'GIT_MISSING')) throw cause;
    throw new WritError('EVIDENCE_WRITE_FAILED', {
      message: `${refs} could not be written: ${messageOf(cause)}`,
      detail: { ref: writes[0]?.[0], ...(isWritError(cause) ? { reason: cause.detail } : {}) },
      cause,
    });
  }
}

/** Moves refs in one transaction. Another process may make the very same writes at the same time. */
async function moveAll(repo: Repository, left: readonly RefUpdate[], message: string): Promise<void> {
  if (left.length === 0) return;
  const outcome = await updateRefs(repo, left, message);
  if (outcome.moved) return;
  const found = new Map(outcome.stale.map((one) => [one.ref, one.found]));
  for (const { ref, old, new: commit } of left)
    if (found.has(ref) && found.get(ref) !== commit) throw conflict(ref, old, found.get(ref));
  await moveAll(
    repo,
    left.filter(({ ref }) => !found.has(ref)),
    message,
  );
}

interface PlannedWrite {
  readonly write: WriteTree;
  readonly old: string | undefined;
}

/**
 * Builds the commits in a private directory on the repository's file system, and then moves the objects over. So a
 * full disk, a failing source or a kill leaves no partial objects in the repository.
 */
async function importCommits(
  repo: Repository,
  writes: readonly PlannedWrite[],
  { clock, actorId }: GitNativeOptions,
): Promise<readonly string[]> {
  const dir = await makeTemporary(repo);
  try {
    const scratch = await createScratch(dir, repo);
    const collected = new Map<string, NewObject>();
    const place: Scratch & ObjectPlace = {
      ...scratch,
      collected,
      // Evidence must survive a power cut before the ref points to it. By default git leaves loose objects unsynced.
      settings: [...scratch.settings, ['core.fsync', 'committed'], ['core.fsyncObjectFiles', 'true']],
    };
    const actor = { name: toName(actorId), email: 'writ@localhost' };
    const commits: string[] = [];
    for (const { write, old: parent } of writes) {
      const tree = await importTree(place, write.files, write.keepExisting ? parent : undefined, repo);
      const atMs = write.atMs ?? clock.now();
      const commit = {
        tree,
        parents: await requireCommits(repo, [
          ...(parent === undefined ? [] : [parent]),
          ...(write.anchors ?? []),
        ]),
        message: `${write.message.replace(/\p{Cc}+/gu, ' ')}\n`,
        author: actor,
        committer: actor,
        authoredAtMs: atMs,
        committedAtMs: atMs,
      };
      commits.push(await createCommit(place, commit));
    }
    await writeObjects(scratch, collected);
    await adoptObjects(scratch, repo);
    return commits;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Git refuses a name that consists only of punctuation. */
function toName(actorId: string | undefined): string {
  const name = (actorId ?? '').replace(/[\p{Cc}<>]/gu, ' ').trim();
  return /[\p{L}\p{N}]/u.test(name) ? name : 'writ';
}

/** A version must not name what is not there. */
async function requireCommits(repo: Repository, ids: readonly string[]): Promise<readonly string[]> {
  const found = await describeObjects(repo, ids.filter(isObjectId));
  const commits = new Set(found.map((object) => (object?.type === 'commit' ? object.id : undefined)));
  const bad = ids.find((id) => !commits.has(id));
  if (bad === undefined) return ids;
  throw new WritError('INTERNAL', { message: `\`${bad}\` is no commit here`, detail: { commit: bad } });
}

/** The fault where a ref is not at the version that a writer expects. */
export function conflict(ref: string, expected: string | undefined, found: string | undefined): WritError {
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `\`${ref}\` was written by another process`,
    detail: { ref, expected: expected ?? null, found: found ?? null },
  });
}
