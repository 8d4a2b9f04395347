import { fetchedLogRef, isLogRef, publishedLogRef } from '../../workspace/git/log-refs.ts';
import { readRef, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { isRefused, type MovedRef } from './move-outcome.ts';

const reason = 'writ: log at the remote';

/**
 * Records which versions of logs a remote has, after a push or a fetch. A version that was fetched aside is dropped
 * once the remote has ours, or one that ours continues.
 */
export async function recordPublishedLogs(repository: Repository, moved: readonly MovedRef[]): Promise<void> {
  for (const one of moved) {
    const { ref, to, status } = one;
    if (!isLogRef(ref) || isRefused(one)) continue;
    const fetched = fetchedLogRef(ref);
    const aside = await readRef(repository, fetched);
    if (aside !== undefined)
      await updateRefs(repository, [{ ref: fetched, old: aside, new: undefined }], reason);
    if (to === null || !['created', 'updated', 'current'].includes(status)) continue;
    const published = publishedLogRef(ref);
    const old = await readRef(repository, published);
    // Another process that records at the same time has seen the remote, too.
    if (old !== to) await updateRefs(repository, [{ ref: published, old, new: to }], reason);
  }
}
