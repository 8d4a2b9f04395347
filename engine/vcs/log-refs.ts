import { readRef, updateRefs } from './refs.ts';
import type { Repository } from './repository.ts';

/** Copies of logs in git: `refs/ai/ledger/<encoded origin>`. */
export const logPrefix = 'refs/ai/ledger/';

export function isLogRef(ref: string): boolean {
  return ref.length > logPrefix.length && ref.startsWith(logPrefix);
}

/** The version of a log that a remote had at the last `writ push` or `writ fetch`. It stays in this repository. */
export function publishedLogRef(ref: string): string {
  return `refs/writ/ledger-published/${ref.slice(logPrefix.length)}`;
}

/** The version of a log at a remote that does not continue the one here. It stays in this repository. */
export function fetchedLogRef(ref: string): string {
  return `refs/writ/ledger-fetched/${ref.slice(logPrefix.length)}`;
}

/** The log of a proof: its copy in git, and whether that copy has a different history from the one that was proven. */
export interface ProofStanding {
  readonly log: string;
  readonly forked: boolean;
}

const apart: readonly string[] = ['diverged', 'unfetched', 'moved', 'rejected'];

/**
 * Records which versions of logs a remote has. One that was fetched aside is dropped once the remote goes with ours.
 */
export async function recordPublishedLogs(
  repository: Repository,
  moved: readonly { readonly ref: string; readonly to: string | null; readonly status: string }[],
): Promise<void> {
  for (const { ref, to, status } of moved) {
    if (!isLogRef(ref) || apart.includes(status)) continue;
    const fetched = fetchedLogRef(ref);
    const aside = await readRef(repository, fetched);
    if (aside !== undefined)
      await updateRefs(repository, [{ ref: fetched, old: aside, new: undefined }], 'writ: log at the remote');
    if (to === null || !['created', 'updated', 'current'].includes(status)) continue;
    const published = publishedLogRef(ref);
    const old = await readRef(repository, published);
    // Another process that records at the same time has seen the remote, too.
    if (old !== to)
      await updateRefs(repository, [{ ref: published, old, new: to }], 'writ: log at the remote');
  }
}
