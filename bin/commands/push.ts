import { type RenewalPlace, renewProofs } from '../../api/renew-proofs.ts';
import { openProofStandings } from '../../attest/log/logged-proof.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isRefused, type MovedRef } from '../../engine/upkeep/move-outcome.ts';
import { type MoveRequest, type Pushed, pushRefs } from '../../engine/upkeep/push-refs.ts';
import { isLogRef } from '../../engine/vcs/log-refs.ts';
import { keepObjectReaders } from '../../engine/vcs/object-reader.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { fetchAndFollow } from '../command-parts/fetch-and-follow.ts';
import { toMovedResult } from '../command-parts/moved-refs.ts';

/** How often another machine may publish the log first before the person is told to push again. */
const maxRounds = 5;

/**
 * `writ push [REMOTE] [--all]`: runs, approvals and proofs, to a remote; refused and abandoned runs only when asked. If
 * another machine published the log first, the runs of this machine are logged behind its entries, and sent again.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, signal, env, stores } = context;
  const repository = await openRepository(repoPath ?? cwd);
  const clock = systemClock;
  const request: MoveRequest = { repository, remote: args[0], cwd, clock, signal };
  const place: RenewalPlace = { repository, stores, env, clock };
  const all = context.options.flag('all');
  const push = async (): Promise<Pushed> => {
    // One git answers for all proofs.
    await using readers = keepObjectReaders();
    return pushRefs({ ...request, all, readProof: openProofStandings(readers.keep({ ...repository })) });
  };
  let pushed = await push();
  const mended = new Map<string, string>();
  for (let round = 1; round < maxRounds; round += 1) {
    const now = await mend(request, place, pushed);
    if (now.size === 0) break;
    for (const [ref, how] of now) mended.set(ref, how);
    pushed = addRound(pushed, await push(), mended);
  }
  return toMovedResult(pushed, pushed.held);
}

/** Mends what kept a log or a run from being sent, and says how; nothing for a ref that cannot be mended here. */
async function mend(
  request: MoveRequest,
  place: RenewalPlace,
  { refs, unlogged }: Pushed,
): Promise<ReadonlyMap<string, string>> {
  const isLogRefused = refs.some((moved) => isLogRef(moved.ref) && isRefused(moved));
  const { followed } = isLogRefused ? await fetchAndFollow(request, place) : {};
  const renewed = isLogRefused ? (followed?.renewed ?? []) : await renewProofs(place, unlogged);
  return new Map([
    ...(followed === undefined ? [] : [[followed.log.ref, followed.log.reason] as const]),
    ...renewed.map((ref) => [ref, 'its log entry was made again, behind those published first'] as const),
  ]);
}

/** What became of every ref in two rounds: the second counts, and what it found done was done in the first. */
function addRound(first: Pushed, second: Pushed, mended: ReadonlyMap<string, string>): Pushed {
  const before = new Map(first.refs.map((moved) => [moved.ref, moved]));
  const told = (moved: MovedRef): MovedRef => {
    const earlier = before.get(moved.ref);
    const last = moved.status === 'current' && earlier && !isRefused(earlier) ? earlier : moved;
    const reason = last.reason ?? mended.get(moved.ref);
    return reason === undefined ? last : { ...last, reason };
  };
  return { ...second, refs: second.refs.map(told) };
}
