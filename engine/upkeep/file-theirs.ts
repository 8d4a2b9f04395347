import { isJournalBegun } from '../store/parse-journal.ts';
import { journalPath } from '../store/run-directory.ts';
import { fetchedLogRef, isLogRef } from '../vcs/log-refs.ts';
import { updateRefs } from '../vcs/refs.ts';
import type { Repository } from '../vcs/repository.ts';
import { type FetchConnection, unmoved } from './fetch-connection.ts';
import { filedRef, filedSource } from './filed-record.ts';
import type { MovedRef, MoveStatus } from './move-outcome.ts';
import type { Remote } from './network-git.ts';
import type { StoredRef } from './stored-ref.ts';

/** A version of theirs that is to be kept beside ours. */
export interface Filing {
  readonly filed: string;
  readonly to: string;
  readonly told: MovedRef;
}

/** Whether theirs is kept beside ours, and where; `undefined` where nothing is to be kept beside anything. */
export async function filingOf(
  { repository, remote, doubled, parts }: FetchConnection,
  theirs: StoredRef,
  from: string,
  status: MoveStatus,
): Promise<Filing | undefined> {
  const { ref, object, kind, prefix, id } = theirs;
  if (isLogRef(ref) && status === 'diverged')
    return { filed: fetchedLogRef(ref), to: object, told: unmoved(ref, from, status) };
  if (status === 'current' || status === 'rejected') return undefined;
  if (kind === 'run') {
    if (status === 'ahead') return undefined;
    if (status === 'updated' && !(await isJournalBegun(journalPath(repository, id)))) return undefined;
    doubled.push({ object: from, prefix }, { object, prefix });
    parts.add(`${prefix}/content/${id}`);
  } else if (kind === 'intent' || kind === 'plan') {
    if (status !== 'diverged' && !parts.has(ref)) return undefined;
  } else if (kind !== 'content' || !parts.has(ref)) return undefined;
  // Of content that was written apart the later counts as ahead: beside a record that is doubled both are kept.
  const filed = filedRef(theirs, filedSource(remote), kind);
  const reason =
    kind === 'run' || kind === 'content'
      ? `ours holds, theirs is kept as \`${filed}\`: \`writ fetch --theirs ${id}\` takes it, \`--ours ${id}\` keeps this one`
      : `it goes with the run that is chosen; theirs is kept as \`${filed}\``;
  const told = { ...unmoved(ref, from, status === 'diverged' ? 'diverged' : 'changed'), reason };
  return { filed, to: object, told };
}

/**
 * A run's record that grew elsewhere, where this machine has no part in the run: it is followed, and said to have
 * changed.
 */
export function changedReason(
  kind: StoredRef['kind'],
  from: string | null,
  status: MoveStatus,
): { readonly reason?: string } {
  return kind === 'run' && status === 'updated'
    ? { reason: `the record changed; before it was ${from}` }
    : {};
}

/** Keeps theirs beside ours, in the place of an earlier one. */
export async function fileTheirs(
  repository: Repository,
  remote: Remote,
  { filed, to, told }: Filing,
  here: ReadonlyMap<string, string>,
): Promise<MovedRef> {
  const old = here.get(filed);
  if (old === to) return told;
  const outcome = await updateRefs(
    repository,
    [{ ref: filed, old, new: to }],
    `writ: fetch from ${remote.shown}`,
  );
  return outcome.moved
    ? told
    : { ...told, status: 'moved', reason: 'what is kept beside it was moved while we looked' };
}
