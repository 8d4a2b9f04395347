import type { GraphEdge, GraphNode } from '../schemas/graph-schema.ts';
import { cutText, toLine } from './cut-text.ts';

/** Characters of a name, on one line. */
export const maxLabel = 200;
const maxDetail = 4000;

/** A graph in the making: each id once, each edge once, between nodes that there are, up to a number of both. */
export interface Drawing {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Something was left out. */
  readonly isTruncated: boolean;
  /**
   * Adds a node and answers the id that it has: `otherwise` where somebody else has its own. `undefined` where there is
   * no room.
   */
  add(node: GraphNode, otherwise: string): string | undefined;
  /** Adds an edge between nodes that were added; none where one of them had no room, or it would go round. */
  connect(from: string | undefined, to: string | undefined, kind: GraphEdge['kind']): void;
}

/** An empty drawing with room for so much. */
export function openDrawing(maxNodes: number, maxEdges: number): Drawing {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  let isTruncated = false;
  const freeId = (wanted: string): string => {
    let id = wanted;
    for (let count = 2; nodes.has(id); count += 1) id = `${wanted}#${count}`;
    return id;
  };
  return {
    get nodes() {
      return [...nodes.values()];
    },
    get edges() {
      return [...edges.values()];
    },
    get isTruncated() {
      return isTruncated;
    },
    add(node, otherwise) {
      if (nodes.size >= maxNodes) {
        isTruncated = true;
        return undefined;
      }
      const id = nodes.has(node.id) ? freeId(otherwise) : node.id;
      nodes.set(id, {
        ...node,
        id,
        label: toLine(node.label, maxLabel),
        detail: cutText(node.detail, maxDetail),
      });
      return id;
    },
    connect(from, to, kind) {
      if (from === undefined || to === undefined || from === to) return;
      const key = `${kind} ${from} ${to}`;
      if (edges.has(key)) return;
      if (edges.size >= maxEdges) isTruncated = true;
      else edges.set(key, { from, to, kind });
    },
  };
}
