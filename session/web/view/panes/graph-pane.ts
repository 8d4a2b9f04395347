/* The pane Graph. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Page, refusalWords } from '../../page/page.ts';
import { Command, h, oneLine, text } from '../parts.ts';

export function GraphPane({ page: { state, acts } }: { readonly page: Page }): VNode {
  const { seen } = state;
  const [graph, setGraph] = useState<Graph>();
  const [notice, setNotice] = useState('Drawing …');
  const load = async (): Promise<void> => {
    const answer = await acts.read('graph');
    setNotice(answer.ok ? '' : refusalWords(answer));
    if (answer.ok) setGraph(answer.value as unknown as Graph);
  };
  const mark = `${seen?.threadId} ${seen?.status === 'thinking'} ${seen?.patchsets.length}`;
  useEffect(() => void load(), [mark]);
  const isEmpty = graph !== undefined && graph.nodes.length === 0;
  return h(
    'div.graph',
    notice !== '' && h('p', { role: 'status', class: 'soft' }, text(notice)),
    isEmpty && h('p.empty', 'Nothing was planned or run in this thread yet.'),
    graph !== undefined && !isEmpty && h(Drawing, { graph }),
    graph?.truncated === true && h('p.soft', 'This is not all of it: what is newest is drawn.'),
    h(Command, {
      words: 'the same in a terminal; --html FILE makes a page of it',
      command: `writ graph ${seen?.threadId ?? ''}`,
    }),
  );
}

/** Scales of the drawing; `undefined` fits it into the pane. */
const scales = [0.25, 0.5, 0.75, 1, 1.5, 2, 3] as const;

function Drawing({ graph }: { readonly graph: Graph }): VNode {
  const { placed, lines, width, height } = layOutGraph(graph);
  const [scale, setScale] = useState<number>();
  const drawing = useRef<HTMLDivElement>(null);
  const zoom = (by: 1 | -1): void => {
    const now = scale ?? Math.min(3, (drawing.current?.querySelector('svg')?.clientWidth ?? width) / width);
    const next = by > 0 ? scales.find((one) => one > now) : scales.findLast((one) => one < now);
    setScale(next ?? now);
  };
  const act: Readonly<Record<string, () => void>> = {
    '+': () => zoom(1),
    '-': () => zoom(-1),
    0: () => setScale(undefined),
  };
  return h(
    'div',
    h(
      'p.row',
      h('button', { 'aria-pressed': scale === undefined, onClick: act[0] }, 'Fit'),
      h('button', { 'aria-label': 'Zoom out', onClick: act['-'] }, '−'),
      h('button', { 'aria-label': 'Zoom in', onClick: act['+'] }, '+'),
      h('span.soft', { role: 'status' }, scale === undefined ? 'whole' : `${scale * 100} %`),
    ),
    h(
      'div.drawing',
      {
        ref: drawing,
        tabIndex: 0,
        role: 'group',
        'aria-label': 'Drawing; the list below has all of it. + and - zoom, 0 fits it',
        onKeyDown: ({ key }: KeyboardEvent) => act[key]?.(),
      },
      h(
        'svg',
        {
          class: scale === undefined ? 'fit' : '',
          width: width * (scale ?? 1),
          height: height * (scale ?? 1),
          viewBox: `0 0 ${width} ${height}`,
          'aria-hidden': 'true',
        },
        lines.map((d, at) => h('path', { key: at, d })),
        placed.map(({ node, x, y }) =>
          h(
            'g',
            { key: node.id, class: `node node-${node.kind}`, transform: `translate(${x} ${y})` },
            h('rect', { width: sizes.width, height: sizes.height, rx: 3 }),
            h(
              'text',
              { x: 8, y: 15, class: 'kind' },
              [node.kind, ...node.tags.map(oneLine)].join(' · ').slice(0, 28),
            ),
            h('text', { x: 8, y: 31 }, oneLine(node.label).slice(0, 26)),
          ),
        ),
      ),
    ),
    h(
      'ul.rows',
      graph.nodes.map(({ id, kind, label, tags, detail }) =>
        h(
          'li',
          { key: id },
          h(
            'details',
            h(
              'summary',
              h('span.tag', kind),
              h('span', text(label)),
              tags.map((tag) => h('span', { key: tag, class: `tag tag-${tag}` }, text(tag))),
            ),
            h('pre', { tabIndex: 0 }, text(detail)),
          ),
        ),
      ),
    ),
  );
}

interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly kind: string }[];
  readonly truncated?: boolean;
}

interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly tags: readonly string[];
  readonly detail: string;
}

const sizes = { width: 168, height: 40, column: 204, row: 52, margin: 4 } as const;
const columns = ['thread', 'intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'];
const mostNodes = 400;

interface Placed {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

/** A column for each kind that there is, in the order in which one comes of the other; lines as paths of SVG. */
function layOutGraph({ nodes, edges }: Graph): {
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
  const lines = edges.flatMap(({ from, to, kind }) => {
    const [start, end] = [places.get(from), places.get(to)];
    return start === undefined || end === undefined || (start.x >= end.x && kind !== 'fork')
      ? []
      : [pathOf(start, end)];
  });
  return {
    placed,
    lines,
    width: 2 * sizes.margin + Math.max(0, present.length - 1) * sizes.column + sizes.width,
    height: 2 * sizes.margin + Math.max(0, Math.max(0, ...rows.values()) - 1) * sizes.row + sizes.height,
  };
}

function pathOf(from: Placed, to: Placed): string {
  if (from.x === to.x) return `M${from.x + sizes.width / 2} ${from.y + sizes.height}V${to.y}`;
  const [x1, y1] = [from.x + sizes.width, from.y + sizes.height / 2];
  const [x2, y2] = [to.x, to.y + sizes.height / 2];
  const bend = (x2 - x1) * 0.5;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
