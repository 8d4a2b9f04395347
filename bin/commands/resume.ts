import { systemClock } from '../../core/base/clock.ts';
import { resumeRun } from '../../core/run/run-intent.ts';
import type { CommandContext, CommandResult } from '../command.ts';
import { openEngine } from '../open-engine.ts';
import { progressPlugin } from '../run-progress.ts';
import { readVersion } from '../version.ts';
import { toResult } from './run.ts';

/** `writ resume RUN`: goes on after a kill or a wait; exit codes as for `writ run`. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd, signal } = context;
  await using engine = await openEngine(context, {
    ephemeralKey: options.flag('ephemeral-key'),
    plugins: [progressPlugin(context.progress)],
  });
  const view = await resumeRun(engine, {
    repositoryPath: repoPath ?? cwd,
    runId: args[0] ?? '',
    sandbox: options.value('sandbox') ?? 'auto',
    schedulerVersion: readVersion(),
    clock: systemClock,
    signal,
  });
  return toResult(view);
}
