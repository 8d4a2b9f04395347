import { threadGraph } from '../../api/graph/thread-graph.ts';
import { WritError } from '../../core/base/errors.ts';
import { firstWords, listSessionThreads, runsOfThread } from '../../session/thread/session-threads.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { writeOutput } from '../command-parts/write-output.ts';
import { printGraph } from '../report/graph/graph-text.ts';

/** `writ graph THREAD`: everything that came of a thread, in the terminal, as data or as a page. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const page = context.options.value('html');
  if (page === '-' && context.json) {
    throw new WritError('USAGE', {
      message: 'expected one document on stdout, found `--html -` and `--json`',
      hints: ['name a file: `--html FILE`'],
    });
  }
  const graph = await threadGraph(context, wanted, {
    list: listSessionThreads,
    titleOf: firstWords,
    runsOf: runsOfThread,
  });
  if (page === undefined) return succeeded(graph, (printer) => printGraph(printer, graph));
  const { renderGraphHtml } = await import('../report/graph/graph-html.ts');
  const html = renderGraphHtml(graph);
  if (page === '-') return succeeded(graph, (printer) => printer.raw(html));
  const path = writeOutput(context.cwd, page, html);
  return succeeded(graph, (printer) => printer.line(path));
}
