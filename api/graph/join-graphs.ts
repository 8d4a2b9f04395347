import type { GraphData, GraphEdge, GraphNode } from '../schemas/graph-schema.ts';
import { toLine } from './cut-text.ts';
import { maxLabel } from './drawing.ts';
import { graphLimits } from './graph-limits.ts';

/** What came of one session is one graph: each of its intents with everything behind it. Pure. */
export function joinGraphs(
  { threadId, title }: { readonly threadId: string; readonly title?: string },
  parts: readonly GraphData[],
): GraphData {
  const byId = new Map<string, GraphNode>();
  const byEnds = new Map<string, GraphEdge>();
  for (const part of parts) {
    for (const node of part.nodes) {
      // What one part sees as its neighbour, another may have itself.
      const before = byId.get(node.id);
      if (before === undefined || before.tags.includes('other-thread')) byId.set(node.id, node);
    }
    for (const edge of part.edges) byEnds.set(`${edge.kind} ${edge.from} ${edge.to}`, edge);
  }
  const nodes = [...byId.values()].slice(0, graphLimits.nodes);
  const shown = new Set(nodes.map(({ id }) => id));
  const edges = [...byEnds.values()]
    .filter(({ from, to }) => shown.has(from) && shown.has(to))
    .slice(0, graphLimits.edges);
  const isCut = byId.size > nodes.length || byEnds.size > edges.length;
  return {
    thread_id: threadId,
    title: toLine(title ?? '', maxLabel) || (parts[0]?.title ?? `thread ${threadId}`),
    nodes,
    edges,
    ...(isCut || parts.some(({ truncated }) => truncated) ? { truncated: true } : {}),
  };
}
