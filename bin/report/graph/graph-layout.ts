import type { GraphNode } from '../../../api/schemas/graph-schema.ts';
import { kindOrder, type TreeNode } from './graph-tree.ts';

/** Measures of the drawing, in its own units (pixels at zoom 1). */
export const sizes = { nodeWidth: 176, nodeHeight: 44, columnStep: 224, rowStep: 56, margin: 16 } as const;

/** Where a node stands: its upper left corner. */
export interface PlacedNode {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  /** In the order of the trees. */
  readonly nodes: readonly PlacedNode[];
  readonly width: number;
  readonly height: number;
}

/**
 * A column for each kind, from intent to decision; a row for each branch. A decision stands in the row of its run, what
 * came before it stands beside it.
 */
export function layOut(trees: readonly TreeNode[]): Layout {
  const nodes: PlacedNode[] = [];
  let columns = 0;
  /** Places a tree from `row` on, and answers the next free row. */
  const place = ({ node, children }: TreeNode, row: number): number => {
    const column = kindOrder.indexOf(node.kind);
    columns = Math.max(columns, column + 1);
    nodes.push({
      node,
      x: sizes.margin + column * sizes.columnStep,
      y: sizes.margin + row * sizes.rowStep,
    });
    let [next, nextDecision] = [row, row];
    for (const child of children) {
      if (child.node.kind === 'decision') nextDecision = place(child, nextDecision);
      else next = place(child, next);
    }
    return Math.max(next, nextDecision, row + 1);
  };
  let rows = 0;
  for (const tree of trees) rows = place(tree, rows);
  return {
    nodes,
    width: 2 * sizes.margin + Math.max(columns - 1, 0) * sizes.columnStep + sizes.nodeWidth,
    height: 2 * sizes.margin + Math.max(rows - 1, 0) * sizes.rowStep + sizes.nodeHeight,
  };
}
