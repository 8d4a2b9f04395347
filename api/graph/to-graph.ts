import type { GraphData } from '../schemas/graph-schema.ts';
import { toLine } from './cut-text.ts';
import { drawIntents } from './draw-intents.ts';
import { drawRun } from './draw-run.ts';
import { maxLabel, openDrawing } from './drawing.ts';
import { graphLimits } from './graph-limits.ts';
import type { ThreadRecord } from './thread-record.ts';

/**
 * A thread as a graph: pure, the same record is the same graph. Nodes are in the order in which things came about,
 * intents first, the newest run last; edges lead from what was before to what came of it.
 */
export function toGraph({ threadId, title, intents, runs, isTruncated }: ThreadRecord): GraphData {
  const drawing = openDrawing(graphLimits.nodes, graphLimits.edges);
  const intentOf = drawIntents(drawing, threadId, intents, runs);
  for (const run of runs) drawRun(drawing, run, intentOf(run));
  const { nodes, edges } = drawing;
  const isWhole = !isTruncated && !drawing.isTruncated && runs.every((run) => run.isWhole);
  return {
    thread_id: threadId,
    title: toLine(title ?? '', maxLabel) || titleOf(nodes, threadId),
    nodes,
    edges,
    ...(isWhole ? {} : { truncated: true }),
  };
}

/** What its intent says, as it stands now. */
function titleOf(nodes: GraphData['nodes'], threadId: string): string {
  return nodes.find(({ id, kind }) => kind === 'intent' && id === threadId)?.label ?? `thread ${threadId}`;
}
