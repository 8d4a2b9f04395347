import { systemClock } from '../../core/base/clock.ts';
import { resumeRun } from '../../core/run/run-intent.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command.ts';
import { openEngine } from '../open-engine.ts';
import { printRun } from '../report/human.ts';
import { toRunData } from '../report/run-data.ts';
import { readVersion } from '../version.ts';
import { toResult } from './run.ts';

/** `writ cancel RUN`: ends a run that waits or was stopped in Decision.Abandon; exit 0 where that is what it came to. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd, signal } = context;
  await using engine = await openEngine(context, { ephemeralKey: true, plugins: [] });
  const view = await resumeRun(engine, {
    repositoryPath: repoPath ?? cwd,
    runId: args[0] ?? '',
    sandbox: 'auto',
    schedulerVersion: readVersion(),
    clock: systemClock,
    signal,
    cancel: options.value('reason') ?? 'no reason given',
  });
  if (view.decision?.type !== 'abandon') return toResult(view);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}
