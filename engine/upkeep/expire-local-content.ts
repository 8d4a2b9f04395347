import type { Clock } from '../../core/base/clock.ts';
import { openExternalLocalStore } from '../store/external-local-store.ts';
import { listExternalLocalRefs } from '../store/list-external-local-refs.ts';
import type { Repository } from '../vcs/repository.ts';
import type { ContentExpiry } from './content-expiry.ts';
import type { Removed } from './removed.ts';
import { localStateOf } from './run-states.ts';
import { type StoredRef, toStoredRef } from './stored-ref.ts';

/** Refs of ours in store `external-local`; `object` is their version. */
export async function listLocalStoredRefs(repository: Repository): Promise<readonly StoredRef[]> {
  const refs = await listExternalLocalRefs(repository);
  return refs.flatMap(({ ref, version }) => toStoredRef(ref, version) ?? []);
}

/**
 * Removes the content of runs in store `external-local` once the last of it is past its retention, with the bytes that nothing else there needs. Content of
 * a run that waits, works or can be resumed here stays.
 */
export async function expireLocalContent(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  clock: Clock,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const store = openExternalLocalStore(repository, { clock });
  const runs = new Map(refs.filter(({ kind }) => kind === 'run').map((run) => [keyOf(run), run.ref]));
  const nowMs = clock.now();
  const removed: Removed[] = [];
  for (const content of refs.filter(({ kind }) => kind === 'content')) {
    const expiry = expiries.get(runs.get(keyOf(content)) ?? '');
    if (expiry === undefined || nowMs < expiry.lastMs) continue;
    if ((await localStateOf(repository, content.id)) !== 'over') continue;
    const bytes = (await store.list(content.ref)).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (!dryRun) await store.remove(content.ref);
    removed.push({ kind: 'content', where: content.ref, runId: content.id, bytes });
  }
  return removed;
}

function keyOf({ prefix, id }: StoredRef): string {
  return `${prefix}/${id}`;
}
