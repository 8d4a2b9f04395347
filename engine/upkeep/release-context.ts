import type { BlobRetentionStrategy } from '../store/retain-blobs.ts';
import { releaseBlobs } from '../store/retain-blobs.ts';
import type { Repository } from '../vcs/repository.ts';
import type { ContentExpiry } from './content-expiry.ts';
import type { Removed } from './removed.ts';
import { localStateOf } from './run-states.ts';
import type { StoredRef } from './stored-ref.ts';

const defaultPrefix = 'refs/ai';

/**
 * Lets go of what retrieval found for runs whose content is over: four strategies keep it from `git gc` (document 1,
 * blobRetentionStrategy), and only this ends that. Git removes the blobs with its own next collection.
 */
export async function releaseContext(
  repository: Repository,
  refs: readonly StoredRef[],
  expiries: ReadonlyMap<string, ContentExpiry>,
  nowMs: number,
  dryRun: boolean,
): Promise<readonly Removed[]> {
  const named = Map.groupBy(
    refs.filter(({ kind }) => kind === 'context'),
    ({ id }) => id,
  );
  const hasOrphans = refs.some(({ kind }) => kind === 'orphans');
  const runs = refs.filter(({ kind }) => kind === 'run');
  const removed: Removed[] = [];
  for (const { ref, id, prefix } of runs) {
    const expiry = expiries.get(ref);
    if (expiry?.blobStrategy === undefined || nowMs < expiry.lastMs) continue;
    const stems = [...new Set([prefix, defaultPrefix])];
    const own = (named.get(id) ?? []).filter((one) => stems.includes(one.prefix));
    if (expiry.blobStrategy === 'ref-anchoring' && own.length === 0) continue;
    if (expiry.blobStrategy === 'orphan-commit' && own.length === 0 && !hasOrphans) continue;
    if ((await localStateOf(repository, id)) !== 'over') continue;
    if (!dryRun) {
      for (const stem of stems)
        await releaseBlobs(repository, expiry.blobStrategy as BlobRetentionStrategy, id, {
          aiRefPrefix: stem,
        });
    }
    for (const one of own) removed.push({ kind: 'context', where: one.ref, runId: id, bytes: 0 });
  }
  return removed;
}
