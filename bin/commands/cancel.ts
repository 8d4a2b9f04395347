import { cancelRun } from '../../api/run/cancel-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/open-engine.ts';
import { printRun } from '../report/human.ts';
import { toResult } from './run.ts';

/** `writ cancel RUN`: ends a run in Decision.Abandon, wherever it stands; exit 0 where that is what it came to. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const view = await cancelRun({
    ...context,
    run: context.args[0] ?? '',
    reason: context.options.value('reason') ?? 'no reason given',
    openEngine: () => openEngine(context, { ephemeralKey: true }),
  });
  if (view.decision?.type !== 'abandon') return toResult(view, context.print);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}
