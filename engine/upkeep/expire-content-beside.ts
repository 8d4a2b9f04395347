import type { OpenStore } from '../store/open-stores.ts';
import type { Repository } from '../vcs/repository.ts';
import type { ContentExpiry } from './content-expiry.ts';
import type { Removed } from './removed.ts';
import { localStateOf } from './run-states.ts';
import { type StoredRef, toStoredRef } from './stored-ref.ts';

/** Refs of ours in a store beside git; `object` is their version. None of a store that is no such store. */
export async function listRefsBeside(
  repository: Repository,
  { beside }: Pick<OpenStore, 'beside'>,
): Promise<readonly StoredRef[]> {
  const refs = (await beside?.list(repository)) ?? [];
  return refs.flatMap(({ ref, version }) => toStoredRef(ref, version) ?? []);
}

/**
 * Removes the content of runs in a store beside git once the last of it is past its retention, with the bytes that
 * nothing else there needs. Content of a run that waits, works or can be resumed here stays.
 */
export async function expireContentBeside(
  repository: Repository,
  store: OpenStore['objects'],
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const runs = new Map(refs.filter(({ kind }) => kind === 'run').map((run) => [keyOf(run), run.ref]));
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
