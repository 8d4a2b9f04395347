import { systemClock } from '../../core/base/clock.ts';
import { collectGarbage } from '../../engine/upkeep/collect-garbage.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ gc`: enforces retention and takes away what runs that are over have left. */
export async function run({ options, stores, repoPath, cwd }: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const dryRun = options.flag('dry-run');
  const removed = await collectGarbage({ stores, repository, clock: systemClock, dryRun });
  const bytes = removed.reduce((sum, one) => sum + one.bytes, 0);
  const data = {
    dry_run: dryRun,
    bytes,
    removed: removed.map(({ kind, where, runId, files, bytes: size }) => ({
      kind,
      where,
      bytes: size,
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(files === undefined ? {} : { files }),
    })),
  };
  return succeeded(data, (printer) => {
    if (removed.length === 0) printer.line(dryRun ? 'nothing would be removed' : 'nothing to remove');
    printer.table(removed.map(({ kind, where, bytes: size }) => [kind, where, `${size} bytes`]));
  });
}
