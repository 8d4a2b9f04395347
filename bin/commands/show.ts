import { askedOf, openRun } from '../../api/run/open-run.ts';
import { toRunData } from '../../api/run/run-data.ts';
import { withStanding } from '../../api/run/with-standing.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { showDraft } from '../command-parts/drafted-run.ts';
import { printRun } from '../report/human.ts';
import { printChanged } from '../report/words.ts';
import type { Printer } from '../terminal/print.ts';

/** `writ show RUN`: one run in full, whatever became of it; a draft that waits, as it would be confirmed. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const draft = await showDraft(context, wanted);
  if (draft !== undefined) return draft;
  const opened = await openRun(context, wanted);
  const { view, changed } = await withStanding(context, opened.view);
  const asked = await askedOf(opened);
  const data = {
    ...toRunData(view),
    ...(changed.length === 0 ? {} : { changed_since: changed.map((one) => ({ ...one })) }),
  };
  const print = (printer: Printer): void => {
    printRun(printer, view, 'show');
    const tree = view.patch?.candidateTree ?? '';
    if (!printer.quiet) printChanged((...parts) => printer.line(...parts), changed, tree);
  };
  if (asked === undefined) return succeeded(data, print);
  return succeeded({ ...data, asked: { ...asked } }, (printer) => {
    print(printer);
    if (printer.quiet) return;
    printer.line();
    for (const said of asked.said) printer.line('  asked  ', said);
    printer.line(
      `  drafted by ${asked.provider} ${asked.model}, in ${asked.turns} turns, ${asked.cost_units} cost units`,
    );
  });
}
