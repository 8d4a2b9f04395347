import { withStanding } from '../approve/with-standing.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command.ts';
import { openRun } from '../open-run.ts';
import { printRun } from '../report/human.ts';
import { toRunData } from '../report/run-data.ts';

/** `writ show RUN`: one run in full, whatever became of it. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const opened = await openRun(context, context.args[0] ?? '');
  const view = await withStanding(context, opened.view);
  return succeeded(toRunData(view), (printer) => printRun(printer, view));
}
