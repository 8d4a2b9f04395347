/** A thread as a graph of versions, as `GET /api/code/graph` answers it. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly kind: string }[];
  readonly truncated?: boolean;
}

export interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly tags: readonly string[];
  readonly detail: string;
}

/** In pixels. */
export const sizes = { width: 168, height: 40, column: 204, row: 52, margin: 4 } as const;
const columns = ['intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'];
const mostNodes = 400;

export interface Placed {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

/** A column for each kind that there is, in the order in which one comes of the other; lines as paths of SVG. */
export function layOutGraph({ nodes, edges }: Graph): {
  readonly placed: readonly Placed[];
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
} {
  const shown = nodes.slice(-mostNodes);
  const present = columns.filter((kind) => shown.some((node) => node.kind === kind));
  const rows = new Map<string, number>();
  const placed = shown.map((node): Placed => {
    const row = rows.get(node.kind) ?? 0;
    rows.set(node.kind, row + 1);
    const column = Math.max(0, present.indexOf(node.kind));
    return { node, x: sizes.margin + column * sizes.column, y: sizes.margin + row * sizes.row };
  });
  const places = new Map(placed.map((one) => [one.node.id, one]));
  const lines = edges.flatMap(({ from, to }) => {
    const [start, end] = [places.get(from), places.get(to)];
    return start === undefined || end === undefined || start.x >= end.x ? [] : [pathOf(start, end)];
  });
  return {
    placed,
    lines,
    width: 2 * sizes.margin + Math.max(0, present.length - 1) * sizes.column + sizes.width,
    height: 2 * sizes.margin + Math.max(0, Math.max(0, ...rows.values()) - 1) * sizes.row + sizes.height,
  };
}

function pathOf(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + sizes.width, from.y + sizes.height / 2];
  const [x2, y2] = [to.x, to.y + sizes.height / 2];
  const bend = (x2 - x1) * 0.5;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
