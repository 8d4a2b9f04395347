import type { GraphNode } from '../../../api/schemas/graph-schema.ts';
import type { TreeNode } from './graph-tree.ts';

/** A node's name beside its kind: once is enough (`run run 0198…`). */
export function toName({ kind, label }: GraphNode): string {
  return label.startsWith(`${kind} `) ? label.slice(kind.length + 1) : label;
}

/** Its tags beside its name: what the name begins with is not said again. */
export function toTags(node: GraphNode): readonly string[] {
  const name = toName(node);
  return node.tags.filter((tag) => !name.startsWith(tag));
}

/** What another edge than the one that it stands below says of a node; `undefined` for what is seen anyway. */
export function toRelation({ kind, from }: TreeNode['also'][number]): string | undefined {
  if (kind === 'replaced-by' || kind === 'superseded-by') return `in place of ${from.label}`;
  if (kind === 'before') return `after ${from.label.split(':')[0] ?? ''}`;
  if (kind === 'revised') return 'the contract was changed';
  return undefined;
}
