import { openRun } from '../../api/run/open-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { withStanding } from '../../api/run/with-standing.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { printRun } from '../report/human.ts';

/** `writ show RUN`: one run in full, whatever became of it. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const opened = await openRun(context, context.args[0] ?? '');
  const view = await withStanding(context, opened.view);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}
