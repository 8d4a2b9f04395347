import { rm } from 'node:fs/promises';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { WriteTree } from '../../core/interfaces/store.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { createCommit } from '../../workspace/git/create-commit.ts';
import { adoptObjects } from '../../workspace/git/import-objects.ts';
import { describeObjects } from '../../workspace/git/read-objects.ts';
import { readRef, updateRefs } from '../../workspace/git/refs.ts';
import { isObjectId, type Repository } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { importTree } from '../../workspace/git/write-tree.ts';

export interface GitNativeOptions {
  readonly clock: Clock;
  /** Name on the commits; default `writ`. */
  readonly actorId?: string;
}

/** `ObjectStore.writeTree` of a store in git: one pack, and one compare-and-swap of the ref; answers the commit. */
export async function writeGitNative(
  repo: Repository,
  ref: string,
  write: WriteTree,
  options: GitNativeOptions,
): Promise<string> {
  const current = await readRef(repo, ref);
  const old = write.expectedOld === undefined ? current : (write.expectedOld ?? undefined);
  // A repeatable write that is not current may be this very one, made by a process that was stopped right after it.
  if (old !== current && write.atMs === undefined) throw conflict(ref, old, current);
  try {
    const commit = await importCommit(repo, write, old, options);
    if (commit === current) return commit;
    if (old !== current) throw conflict(ref, old, current);
    const outcome = await updateRefs(repo, [{ ref, old, new: commit }], write.message);
    const found = outcome.moved ? commit : outcome.stale[0]?.found;
    // Another process may have made the very same write at the same time.
    if (found !== commit) throw conflict(ref, old, found);
    return commit;
  } catch (cause) {
    if (isWritError(cause, 'EVIDENCE_WRITE_FAILED') || isWritError(cause, 'GIT_MISSING')) throw cause;
    throw new WritError('EVIDENCE_WRITE_FAILED', {
      message: `\`${ref}\` could not be written: ${messageOf(cause)}`,
      detail: { ref, ...(isWritError(cause) ? { reason: cause.detail } : {}) },
      cause,
    });
  }
}

/**
 * Builds the commit in a private directory on the repository's file system, and then moves the objects over. So a
 * full disk, a failing source or a kill leaves no partial objects in the repository.
 */
async function importCommit(
  repo: Repository,
  write: WriteTree,
  parent: string | undefined,
  { clock, actorId }: GitNativeOptions,
): Promise<string> {
  const dir = await makeTemporary(repo);
  try {
    const scratch = await createScratch(dir, repo);
    const place: Scratch = {
      ...scratch,
      // Evidence must survive a power cut before the ref points to it. By default git leaves loose objects unsynced.
      settings: [...scratch.settings, ['core.fsync', 'committed'], ['core.fsyncObjectFiles', 'true']],
    };
    const tree = await importTree(place, write.files, write.keepExisting ? parent : undefined, repo);
    const actor = { name: toName(actorId), email: 'writ@localhost' };
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
    const id = await createCommit(place, commit);
    await adoptObjects(scratch, repo);
    return id;
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
