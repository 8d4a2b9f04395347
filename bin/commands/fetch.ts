import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { pickRemote } from '../../engine/upkeep/network-git.ts';
import { pickRecord } from '../../engine/upkeep/pick-record.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { fetchAndFollow, toMovedResult } from '../command-parts/moved-refs.ts';

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
  const { env, stores } = context;
  const clock = systemClock;
  const { fetched } = await fetchAndFollow(
    { repository, remote: args[0], cwd, clock, signal },
    { repository, stores, env, clock },
  );
  return toMovedResult(fetched);
}
