import type { GraphData } from '../schemas/graph-schema.ts';
import { toLine } from './cut-text.ts';
import { maxLabel } from './drawing.ts';
import { graphLimits } from './graph-limits.ts';

/** What came of one session is one graph: each of its intents with everything behind it. Pure. */
export function joinGraphs(
  { threadId, title }: { readonly threadId: string; readonly title?: string },
  parts: readonly GraphData[],
): GraphData {
  const nodes = [
    ...new Map(parts.flatMap((part) => part.nodes.map((node) => [node.id, node]))).values(),
  ].slice(0, graphLimits.nodes);
  const shown = new Set(nodes.map(({ id }) => id));
  const edges = parts
    .flatMap((part) => part.edges)
    .filter(({ from, to }) => shown.has(from) && shown.has(to))
    .slice(0, graphLimits.edges);
  const count = (of: 'nodes' | 'edges'): number => parts.reduce((sum, part) => sum + part[of].length, 0);
  const isCut = parts.some(({ truncated }) => truncated) || count('nodes') > graphLimits.nodes;
  return {
    thread_id: threadId,
    title: toLine(title ?? '', maxLabel) || (parts[0]?.title ?? `thread ${threadId}`),
    nodes,
    edges,
    ...(isCut || count('edges') > graphLimits.edges ? { truncated: true } : {}),
  };
}
