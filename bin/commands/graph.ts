import { threadGraph } from '../../api/graph/thread-graph.ts';
import { firstWords, listSessionThreads } from '../../session/thread/session-threads.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { printGraph } from '../report/graph/graph-text.ts';

/** `writ graph THREAD`: everything that came of a thread, in the terminal or as a page. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [wanted = ''] = context.args;
  const graph = await threadGraph(context, wanted, { list: listSessionThreads, titleOf: firstWords });
  return succeeded(graph, (printer) => printGraph(printer, graph));
}
