import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/contract/run-view.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command.ts';
import { openRun } from '../open-run.ts';
import { renderRunHtml } from '../report/html.ts';
import { renderRunJunit } from '../report/junit.ts';
import { renderRunMarkdown } from '../report/markdown.ts';
import { renderRunSarif } from '../report/sarif.ts';
import { readVersion } from '../version.ts';
import { writeOutput } from '../write-output.ts';

/** Forms of a report by the option that names their file. */
const forms: Readonly<Record<string, (view: RunView) => string>> = {
  html: renderRunHtml,
  markdown: renderRunMarkdown,
  sarif: (view) => renderRunSarif(view, readVersion()),
  junit: renderRunJunit,
};

/** `writ report RUN`: the run for people and for other tools, in at least one form. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const wanted = Object.entries(forms).flatMap(([form, render]) => {
    const path = context.options.value(form);
    return path === undefined ? [] : [{ path, render }];
  });
  if (wanted.length === 0) {
    const options = Object.keys(forms).map((form) => `\`--${form} FILE\``);
    throw new WritError('USAGE', { message: `expected at least one of ${options.join(', ')}` });
  }
  const { view } = await openRun(context, context.args[0] ?? '');
  const paths = wanted.map(({ path, render }) => writeOutput(context.cwd, path, render(view)));
  return succeeded({ run_id: view.runId, paths }, (printer) => {
    for (const path of paths) printer.line(path);
  });
}
