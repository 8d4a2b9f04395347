import { systemClock } from '../../core/base/clock.ts';
import { pushRefs } from '../../core/upkeep/push-refs.ts';
import { openRepository } from '../../core/vcs/repository.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { toMovedResult } from '../moved-refs.ts';

/** `writ push [REMOTE]`: runs, approvals and proofs, to a remote. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, signal } = context;
  const repository = await openRepository(repoPath ?? cwd);
  return toMovedResult(await pushRefs({ repository, remote: args[0], cwd, clock: systemClock, signal }));
}
