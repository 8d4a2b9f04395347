import { askedOf } from '../../api/run/asked-of.ts';
import { openRun } from '../../api/run/open-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { withStanding } from '../../api/run/with-standing.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { showDraft } from '../command-parts/show-draft.ts';
import { printRun } from '../report/human.ts';

/** `writ show RUN`: one run in full, whatever became of it; a draft that waits, as it would be confirmed. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const draft = await showDraft(context, wanted);
  if (draft !== undefined) return draft;
  const opened = await openRun(context, wanted);
  const view = await withStanding(context, opened.view);
  const asked = await askedOf(opened);
  if (asked === undefined) return succeeded(toRunData(view), (printer) => printRun(printer, view, 'show'));
  return succeeded({ ...toRunData(view), asked: { ...asked } }, (printer) => {
    printRun(printer, view, 'show');
    if (printer.quiet) return;
    printer.line();
    for (const said of asked.said) printer.line('  asked  ', said);
    printer.line(
      `  drafted by ${asked.provider} ${asked.model}, in ${asked.turns} turns, ${asked.cost_units} cost units`,
    );
  });
}
