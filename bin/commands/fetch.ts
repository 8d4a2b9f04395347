import { systemClock } from '../../core/base/clock.ts';
import { fetchRefs } from '../../core/upkeep/fetch-refs.ts';
import { openRepository } from '../../core/vcs/repository.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { toMovedResult } from '../moved-refs.ts';

/** `writ fetch [REMOTE]`: runs, approvals and proofs, from a remote. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, signal } = context;
  const repository = await openRepository(repoPath ?? cwd);
  return toMovedResult(await fetchRefs({ repository, remote: args[0], cwd, clock: systemClock, signal }));
}
