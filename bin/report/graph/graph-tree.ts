import type { GraphData, GraphEdge, GraphNode } from '../../../api/schemas/graph-schema.ts';

/** A node with what is shown below it. */
export interface TreeNode {
  readonly node: GraphNode;
  readonly children: readonly TreeNode[];
  /** Edges that lead to it from elsewhere than from what it stands below. */
  readonly also: readonly { readonly kind: GraphEdge['kind']; readonly from: GraphNode }[];
}

/** What comes of what: a node stands below one of a kind before its own, so that a circle of edges ends no way down. */
export const kindOrder: readonly GraphNode['kind'][] = [
  'intent',
  'plan',
  'task',
  'run',
  'patchset',
  'evidence',
  'decision',
];

/** What an edge says of where a node belongs; the others only cross. */
const below: ReadonlySet<GraphEdge['kind']> = new Set([
  'plan',
  'task',
  'run',
  'patchset',
  'evidence',
  'decision',
]);

/**
 * The graph as trees, each node in them once, in the order of the nodes: below the first that an edge puts it under.
 */
export function toTrees({ nodes, edges }: Pick<GraphData, 'nodes' | 'edges'>): readonly TreeNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map<string, GraphNode>();
  const also = new Map<string, TreeNode['also'][number][]>();
  for (const { kind, from: fromId, to } of edges) {
    const from = byId.get(fromId);
    const node = byId.get(to);
    if (from === undefined || node === undefined) continue;
    const isBelow = below.has(kind) && kindOrder.indexOf(from.kind) < kindOrder.indexOf(node.kind);
    if (isBelow && !parentOf.has(to)) parentOf.set(to, from);
    else put(also, to, { kind, from });
  }
  const childrenOf = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    const parent = parentOf.get(node.id);
    if (parent) put(childrenOf, parent.id, node);
  }
  const grow = (node: GraphNode): TreeNode => ({
    node,
    children: (childrenOf.get(node.id) ?? []).map(grow),
    also: also.get(node.id) ?? [],
  });
  return nodes.filter(({ id }) => !parentOf.has(id)).map(grow);
}

function put<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
