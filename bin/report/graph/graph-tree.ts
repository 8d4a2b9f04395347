/* Converts a thread's graph to trees, for text and HTML. */
import type { GraphData, GraphEdge, GraphNode } from '../../../api/schemas/other-schemas.ts';

/** A node with what is shown below it. */
export interface TreeNode {
  readonly node: GraphNode;
  readonly children: readonly TreeNode[];
  /** Incoming edges except the one from the parent in the tree. */
  readonly also: readonly { readonly kind: GraphEdge['kind']; readonly from: GraphNode }[];
}

/**
 * Order of kinds. A parent must have an earlier kind than its child, so cycles of edges cannot cause endless
 * recursion.
 */
export const kindOrder: readonly GraphNode['kind'][] = [
  'intent',
  'plan',
  'task',
  'run',
  'patchset',
  'evidence',
  'decision',
];

/** Edge kinds that define the parent of a node; other kinds are cross references. */
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

/** A node's name beside its kind: once is enough (`run run 0198…`). */
export function toName({ kind, label }: GraphNode): string {
  return label.startsWith(`${kind} `) ? label.slice(kind.length + 1) : label;
}

/** Returns tags to show next to the name, without a tag that the name begins with. */
export function toTags(node: GraphNode): readonly string[] {
  const name = toName(node);
  return node.tags.filter((tag) => !name.startsWith(tag));
}

/** Describes an edge that does not come from the parent; `undefined` if the tree shows it anyway. */
export function toRelation({ kind, from }: TreeNode['also'][number]): string | undefined {
  if (kind === 'replaced-by' || kind === 'superseded-by') return `in place of ${from.label}`;
  if (kind === 'before') return `after ${from.label.split(':')[0] ?? ''}`;
  if (kind === 'revised') return 'the contract was changed';
  return undefined;
}

type Tone = 'good' | 'bad' | 'open';

/** A map: a tag may be a word of a record that anybody wrote, `constructor` for one. */
const tones: ReadonlyMap<string, Tone> = new Map([
  ['commit', 'good'],
  ['passed', 'good'],
  ['merge', 'good'],
  ['applied', 'good'],
  ['abandon', 'bad'],
  ['stop', 'bad'],
  ['rollback', 'bad'],
  ['failed', 'bad'],
  ['rejected', 'bad'],
  ['damaged', 'bad'],
  ['missing', 'bad'],
  ['retry', 'open'],
  ['replan', 'open'],
  ['wait-for-approval', 'open'],
  ['wait-for-budget', 'open'],
  ['waiting', 'open'],
  ['interrupted', 'open'],
  ['running', 'open'],
]);

/** How a tag of a node is meant, for colours; `undefined` for one that is neither good nor bad. */
export function toTone(tag: string): Tone | undefined {
  return tones.get(tag);
}
