import { followPublishedLedger } from '../../attest/log/internal-ledger-source.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { fetchRefs } from '../../engine/upkeep/fetch-refs.ts';
import { pickRemote } from '../../engine/upkeep/network-git.ts';
import { pickRecord } from '../../engine/upkeep/pick-record.ts';
import type { Moved } from '../../engine/upkeep/push-refs.ts';
import { isLogRef } from '../../engine/vcs/log-refs.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { toMovedResult } from '../command-parts/moved-refs.ts';

/**
 * `writ fetch [REMOTE] [--ours RUN|--theirs RUN]`: runs, approvals and proofs, from a remote; or which of two records
 * of a run holds.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, options, signal } = context;
  const repository = await openRepository(repoPath ?? cwd);
  const picked = { ours: options.value('ours'), theirs: options.value('theirs') };
  if (picked.ours !== undefined && picked.theirs !== undefined)
    throw new WritError('USAGE', { message: 'expected `--ours` or `--theirs`, found both' });
  const run = picked.ours ?? picked.theirs;
  if (run !== undefined) {
    const remote = args[0] === undefined ? undefined : await pickRemote(repository, args[0], cwd);
    const keep = picked.ours === undefined ? 'theirs' : 'ours';
    const clock = systemClock;
    const refs = await pickRecord({
      stores: context.stores,
      repository,
      clock,
      run,
      keep,
      ...(remote ? { remote } : {}),
    });
    return toMovedResult({ remote: remote?.shown ?? '', refs });
  }
  const fetched = await fetchRefs({ repository, remote: args[0], cwd, clock: systemClock, signal });
  return toMovedResult(await followLog(repository, context, fetched));
}

/** If another machine published the user's log first, the ledger follows it, and the log is no longer diverged. */
async function followLog(
  repository: Repository,
  { env }: CommandContext,
  { remote, refs }: Moved,
): Promise<Moved> {
  if (!refs.some(({ ref }) => isLogRef(ref))) return { remote, refs };
  const followed = await followPublishedLedger(repository, env, systemClock);
  if (followed === undefined) return { remote, refs };
  const { ref: log, version, kept, runs } = followed;
  const again = runs.map(
    (run) => `; the log entry of \`${run}\` is not in the published log: run the spec again`,
  );
  const reason = `another machine published this log first; the unpublished ledger is kept in \`${kept}\`${again.join('')}`;
  return {
    remote,
    refs: refs.map((moved) =>
      moved.ref === log ? { ref: log, from: moved.from, to: version, status: 'replaced', reason } : moved,
    ),
  };
}
