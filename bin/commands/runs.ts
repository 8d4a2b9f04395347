import { toRunsData } from '../../api/run/runs-data.ts';
import { systemClock } from '../../core/base/clock.ts';
import { listRuns } from '../../engine/run/record/list-runs.ts';
import { keepObjectReaders } from '../../engine/vcs/object-reader.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { styled } from '../terminal/print.ts';

/** `writ runs`: newest first. */
export async function run(context: CommandContext): Promise<CommandResult> {
  await using readers = keepObjectReaders();
  const repository = readers.keep(await openRepository(context.repoPath ?? context.cwd));
  const runs = await listRuns(context.stores, repository, systemClock);
  return succeeded(toRunsData(runs), (printer) => {
    if (runs.length === 0) printer.line('no runs yet');
    printer.table(
      runs.map(({ runId, startedAt, state, summary, decision }) => [
        runId,
        startedAt,
        styled(
          decision === 'commit' ? 'green' : decision === undefined ? 'yellow' : 'red',
          decision ?? state,
        ),
        summary,
      ]),
    );
  });
}
