import { type RenewalPlace, renewEntries } from '../../api/renew-entries.ts';
import { followPublishedLedger } from '../../attest/log/internal-ledger-source.ts';
import { fetchRefs } from '../../engine/upkeep/fetch-refs.ts';
import { joinIntents } from '../../engine/upkeep/join-intents.ts';
import type { MovedRef } from '../../engine/upkeep/move-outcome.ts';
import type { Moved, MoveRequest } from '../../engine/upkeep/push-refs.ts';

/** The reason given for a run whose log entry was made again. */
export const renewedReason = 'its log entry was made again, behind those published first';

/** What a fetch brought, and what else changed if the ledger here follows another machine's log since then. */
export interface FetchedAndFollowed {
  readonly fetched: Moved;
  /** The log that the ledger follows now, and how it was replaced. */
  readonly log?: MovedRef & { readonly reason: string };
  /** Refs of the runs whose log entry was made again. */
  readonly renewed: readonly string[];
}

/**
 * Fetches, and brings the user's ledger up to the published log: entries that it lacks are taken; if another machine
 * published entries first, the ledger follows them, and the entries of the runs of this machine are made again.
 */
export async function fetchAndFollow(request: MoveRequest, place: RenewalPlace): Promise<FetchedAndFollowed> {
  const { repository, env, clock } = place;
  const brought = await fetchRefs(request);
  const fetched = { ...brought, refs: await joinIntents(place, brought.refs) };
  const before = new Map(fetched.refs.map((moved) => [moved.ref, moved]));
  const unmoved = (ref: string): Pick<MovedRef, 'from' | 'to'> => before.get(ref) ?? { from: null, to: null };
  const followed = await followPublishedLedger(repository, env, clock, true);
  const renewed = new Set(await renewEntries(place));
  const runs = [...renewed].map((ref): MovedRef => {
    const { from, to } = unmoved(ref);
    return { ref, from, to, status: 'ahead', reason: renewedReason };
  });
  const left = (followed?.runs ?? []).filter((run) => !renewed.has(run));
  const again = left.map((run) => `; the log entry of \`${run}\` cannot be made again: run the spec again`);
  const log = followed && {
    ref: followed.ref,
    from: unmoved(followed.ref).from,
    to: followed.version,
    status: 'replaced' as const,
    reason: `another machine published this log first; the unpublished ledger is kept in \`${followed.kept}\`${again.join('')}`,
  };
  const changed = new Map([
    ...before,
    ...[...runs, ...(log ? [log] : [])].map((moved) => [moved.ref, moved] as const),
  ]);
  return { fetched: { ...fetched, refs: [...changed.values()] }, ...(log && { log }), renewed: [...renewed] };
}
