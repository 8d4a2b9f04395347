import { WritError } from '../../core/base/errors.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command.ts';
import { openRun } from '../open-run.ts';
import { renderRunHtml } from '../report/html.ts';
import { renderRunMarkdown } from '../report/markdown.ts';
import { writeOutput } from '../write-output.ts';

/** `writ report RUN`: the run for people; at least one of `--html` and `--markdown`. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const html = context.options.value('html');
  const markdown = context.options.value('markdown');
  if (html === undefined && markdown === undefined) {
    throw new WritError('USAGE', { message: 'expected `--html FILE` or `--markdown FILE`' });
  }
  const { view } = await openRun(context, context.args[0] ?? '');
  const paths: string[] = [];
  if (html !== undefined) paths.push(writeOutput(context.cwd, html, renderRunHtml(view)));
  if (markdown !== undefined) paths.push(writeOutput(context.cwd, markdown, renderRunMarkdown(view)));
  return succeeded({ run_id: view.runId, paths }, (printer) => {
    for (const path of paths) printer.line(path);
  });
}
