import type { GraphEdge, GraphNode } from '../../../api/schemas/graph-schema.ts';
import { clipCells } from '../../terminal/cell-width.ts';
import { escapeHtml } from '../escape-html.ts';
import { type Layout, type PlacedNode, sizes } from './graph-layout.ts';
import { toName, toTags } from './graph-words.ts';
import { toTone } from './to-tone.ts';

/** Characters that fit into a node. */
const nodeCells = 22;

/** The drawing; each node leads to its entry in the list of the page, `entryOf` says which. */
export function graphSvg(
  { nodes, width, height }: Layout,
  edges: readonly GraphEdge[],
  entryOf: (node: GraphNode) => string,
): string {
  const placed = new Map(nodes.map((one) => [one.node.id, one]));
  const lines = edges.map(({ kind, from, to }) => {
    const [start, end] = [placed.get(from), placed.get(to)];
    return start && end ? `<path class="to-${kind}" d="${toPath(start, end)}"/>` : '';
  });
  return `<svg id="view" role="img" aria-label="Drawing of ${nodes.length} nodes; the list below has all of them" data-width="${width}" data-height="${height}"><g id="world"><g class="edges">${lines.join('')}</g>${nodes.map((one) => toNode(one, entryOf(one.node))).join('')}</g></svg>`;
}

function toNode({ node, x, y }: PlacedNode, entry: string): string {
  const tags = toTags(node);
  const tone = node.tags.map(toTone).find((one) => one !== undefined) ?? '';
  const name = escapeHtml(clipCells(toName(node), nodeCells), 200);
  const head = escapeHtml(clipCells([node.kind, ...tags].join(' · '), nodeCells + 4), 200);
  return `<a href="#${entry}" tabindex="-1" class="node ${tone}" transform="translate(${x} ${y})"><title>${escapeHtml(node.label, 200)}</title><rect width="${sizes.nodeWidth}" height="${sizes.nodeHeight}" rx="7"/><text class="kind" x="10" y="17">${head}</text><text x="10" y="34">${name}</text></a>`;
}

/** From the right of one to the left of the next; within a column, and back, around their left side. */
function toPath(from: PlacedNode, to: PlacedNode): string {
  const half = sizes.nodeHeight / 2;
  const [y1, y2] = [from.y + half, to.y + half];
  if (to.x > from.x) {
    const [x1, x2] = [from.x + sizes.nodeWidth, to.x];
    const bend = Math.min(sizes.columnStep - sizes.nodeWidth, x2 - x1) * 0.6;
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  const left = Math.min(from.x, to.x) - 18;
  return `M${from.x} ${y1}C${left} ${y1} ${left} ${y2} ${to.x} ${y2}`;
}
