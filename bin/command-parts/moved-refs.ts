/* The result of `push` and `fetch`: each ref and its outcome. */
import { type RenewalPlace, renewEntries } from '../../api/renew-entries.ts';
import { followPublishedLedger } from '../../attest/log/internal-ledger-source.ts';
import { WritError } from '../../core/base/errors.ts';
import { fetchRefs } from '../../engine/upkeep/fetch-refs.ts';
import { joinIntents } from '../../engine/upkeep/filed-records.ts';
import type { Moved, MoveRequest, Pushed } from '../../engine/upkeep/push-refs.ts';
import { awaitsChoice, isRefused, type MovedRef } from '../../engine/upkeep/remote.ts';
import { fetchedLogRef, isLogRef } from '../../workspace/git/refs.ts';
import { styled } from '../terminal/print.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from './command.ts';

/** What `push` and `fetch` answer: every ref and what became of it; exit 1 where one should have moved and did not. */
export function toMovedResult({ remote, refs }: Moved, held?: Pushed['held']): CommandResult {
  const data = { remote, refs, ...(held === undefined ? {} : { held }) };
  const human = (printer: CommandContext['print']): void => {
    const changed = refs.filter(
      ({ status, reason }) => status !== 'current' && (status !== 'held' || reason?.includes('log entry')),
    );
    if (changed.length === 0) printer.line(`up to date with ${remote} (${refs.length} refs)`);
    printer.table(
      changed.map((ref) => [styled(isRefused(ref) ? 'red' : 'green', ref.status), ref.ref, ref.reason ?? '']),
    );
    if (held === undefined || held.length === 0) return;
    const shown = held.slice(0, 5).map(({ run_id: run, decision }) => `${run} (${decision})`);
    const more = held.length > shown.length ? ` and ${held.length - shown.length} more` : '';
    printer.line(
      `held back: ${held.length} refused or abandoned ${held.length === 1 ? 'run' : 'runs'}, ${shown.join(', ')}${more}; \`writ push --all\` sends them`,
    );
  };
  const stuck = refs.filter(isRefused);
  if (stuck.length === 0) return succeeded(data, human);
  return refused(
    new WritError('REFS_REFUSED', {
      message: `${stuck.length} of ${refs.length} refs could not be moved, first \`${stuck[0]?.ref}\` (${stuck[0]?.status})`,
      detail: { refs: stuck.slice(0, 20) },
      ...hintsFor(stuck, held !== undefined),
    }),
    data,
    human,
  );
}

/** Only where the next step is not the usual one, to fetch. */
function hintsFor(stuck: readonly MovedRef[], pushed: boolean): { readonly hints?: readonly string[] } {
  if (stuck.every(awaitsChoice))
    return {
      hints: ['say which record holds: `writ fetch --theirs RUN` takes theirs, `--ours RUN` keeps yours'],
    };
  if (pushed && stuck.some(({ ref, status }) => status === 'diverged' && ref.includes('/runs/')))
    return {
      hints: [
        'the remote has another record of the run: `writ fetch` brings it, `writ fetch --theirs RUN` takes it, `--ours RUN` keeps yours; then push again',
      ],
    };
  if (pushed || !stuck.every(({ ref, status }) => isLogRef(ref) && status === 'diverged')) return {};
  const take = stuck.map(({ ref }) => `\`git update-ref ${ref} ${fetchedLogRef(ref)}\``);
  return {
    hints: [
      'the log has two histories, and the ledger here or its key is missing, so writ cannot follow the remote',
      `to use the copy of the remote: ${take.join(', ')}`,
    ],
  };
}

/** Reason reported for a run with a renewed log entry. */
export const renewedReason = 'its log entry was made again, behind those published first';

/** What a fetch brought, and what else changed if the ledger here follows another machine's log since then. */
interface FetchedAndFollowed {
  readonly fetched: Moved;
  /** The log that the ledger follows now, and how it was replaced. */
  readonly log?: MovedRef & { readonly reason: string };
  /** Refs of the runs with a renewed log entry. */
  readonly renewed: readonly string[];
}

/**
 * Fetches, and updates the user's ledger to the published log by adding missing entries. If another machine published
 * entries first, the ledger follows them and renews the log entries of this machine's runs.
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
