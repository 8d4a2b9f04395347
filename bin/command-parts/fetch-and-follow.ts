import { type RenewalPlace, renewProofs } from '../../api/renew-proofs.ts';
import { followPublishedLedger } from '../../attest/log/internal-ledger-source.ts';
import { fetchRefs } from '../../engine/upkeep/fetch-refs.ts';
import type { MovedRef } from '../../engine/upkeep/move-outcome.ts';
import type { Moved, MoveRequest } from '../../engine/upkeep/push-refs.ts';
import { isLogRef } from '../../engine/vcs/log-refs.ts';

/** What a fetch brought, and what else changed if the ledger here follows another machine's log since then. */
export interface FetchedAndFollowed {
  readonly fetched: Moved;
  readonly followed?: {
    /** The log, and how it was replaced. */
    readonly log: MovedRef & { readonly reason: string };
    /** Refs of the runs that were logged again. */
    readonly renewed: readonly string[];
  };
}

/**
 * Fetches. If another machine published the user's log first, the ledger follows it, the log is no longer diverged, and
 * the entries of the runs of this machine are made again in it.
 */
export async function fetchAndFollow(request: MoveRequest, place: RenewalPlace): Promise<FetchedAndFollowed> {
  const { repository, env, clock } = place;
  const fetched = await fetchRefs(request);
  if (!fetched.refs.some(({ ref }) => isLogRef(ref))) return { fetched };
  const followed = await followPublishedLedger(repository, env, clock);
  if (followed === undefined) return { fetched };
  const { ref: log, version, kept, runs } = followed;
  const renewed = await renewProofs(place, runs);
  const outcomes = runs.map((run) =>
    renewed.includes(run)
      ? `; the log entry of \`${run}\` was made again`
      : `; the log entry of \`${run}\` is not in the published log: run the spec again`,
  );
  const reason = `another machine published this log first; the unpublished ledger is kept in \`${kept}\`${outcomes.join('')}`;
  const from = fetched.refs.find(({ ref }) => ref === log)?.from ?? null;
  const replaced = { ref: log, from, to: version, status: 'replaced', reason } as const;
  const refs = fetched.refs.map((moved) => (moved.ref === log ? replaced : moved));
  return { fetched: { ...fetched, refs }, followed: { log: replaced, renewed } };
}
