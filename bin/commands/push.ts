import { type RenewalPlace, renewEntries } from '../../api/renew-entries.ts';
import { findUserLedgerKey } from '../../attest/keys/user-keys.ts';
import { openProofStandings } from '../../attest/log/proof-standing.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isRefused, type MovedRef } from '../../engine/upkeep/move-outcome.ts';
import { type MoveRequest, type Pushed, pushRefs } from '../../engine/upkeep/push-refs.ts';
import { isLogRef } from '../../workspace/git/log-refs.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { fetchAndFollow, renewedReason, toMovedResult } from '../command-parts/moved-refs.ts';

/** How often another machine may publish the log first before `writ push` gives up. */
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
  const key = await findUserLedgerKey(env);
  const push = async (): Promise<Pushed> => {
    // One git answers for all proofs.
    await using readers = keepObjectReaders();
    const readProof = openProofStandings(readers.keep({ ...repository }), key?.publicKeyPem);
    return pushRefs({ ...request, all, readProof });
  };
  const mended = new Map((await renewEntries(place)).map((ref) => [ref, renewedReason]));
  let pushed = addRound(undefined, await push(), mended);
  for (let round = 1; round < maxRounds && pushed.refs.some(isRefusedLog); round += 1) {
    const { log, renewed } = await fetchAndFollow(request, place);
    if (log === undefined) break;
    mended.set(log.ref, log.reason);
    for (const ref of renewed) mended.set(ref, renewedReason);
    pushed = addRound(pushed, await push(), mended);
  }
  return toMovedResult(pushed, pushed.held);
}

function isRefusedLog(moved: MovedRef): boolean {
  return isLogRef(moved.ref) && isRefused(moved);
}

/** The outcome of every ref in two rounds: the second counts, except for what the first had done already. */
function addRound(first: Pushed | undefined, second: Pushed, mended: ReadonlyMap<string, string>): Pushed {
  const before = new Map((first?.refs ?? []).map((moved) => [moved.ref, moved]));
  const joined = (moved: MovedRef): MovedRef => {
    const earlier = before.get(moved.ref);
    const last = moved.status === 'current' && earlier && !isRefused(earlier) ? earlier : moved;
    const reason = last.reason ?? mended.get(moved.ref);
    return reason === undefined ? last : { ...last, reason };
  };
  return { ...second, refs: second.refs.map(joined) };
}
