import { openProofStandings } from '../../attest/log/logged-proof.ts';
import { systemClock } from '../../core/base/clock.ts';
import { pushRefs } from '../../engine/upkeep/push-refs.ts';
import { keepObjectReaders } from '../../engine/vcs/object-reader.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import type { CommandContext, CommandResult } from '../command-parts/command.ts';
import { toMovedResult } from '../command-parts/moved-refs.ts';

/**
 * `writ push [REMOTE] [--all]`: runs, approvals and proofs, to a remote; refused and abandoned runs only when asked.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { repoPath, cwd, args, signal } = context;
  const repository = await openRepository(repoPath ?? cwd);
  const all = context.options.flag('all');
  // One git answers for all proofs.
  await using readers = keepObjectReaders();
  const pushed = await pushRefs({
    repository,
    remote: args[0],
    cwd,
    clock: systemClock,
    signal,
    all,
    readProof: openProofStandings(readers.keep({ ...repository })),
  });
  return toMovedResult(pushed, pushed.held);
}
