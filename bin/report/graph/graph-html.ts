/* Renders a thread's graph as one HTML page. */
import type { GraphData, GraphEdge, GraphNode } from '../../../api/schemas/other-schemas.ts';
import { clipCells } from '../../terminal/print.ts';
import { escapeHtml, pageFrame, pageStyle } from '../page-frame.ts';
import { kindOrder, type TreeNode, toName, toRelation, toTags, toTone, toTrees } from './graph-text.ts';

/** Measures of the drawing, in its own units (pixels at zoom 1). */
const sizes = { nodeWidth: 176, nodeHeight: 44, columnStep: 224, rowStep: 56, margin: 16 } as const;

/** A node with the position of its upper left corner. */
interface PlacedNode {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
}

interface Layout {
  /** In the order of the trees. */
  readonly nodes: readonly PlacedNode[];
  readonly width: number;
  readonly height: number;
}

/**
 * Places one column per kind, from intent (with threads) to decision, and one row per branch. A decision is in the
 * row of its run, next to the nodes before it.
 */
function layOut(trees: readonly TreeNode[]): Layout {
  const nodes: PlacedNode[] = [];
  let columns = 0;
  /** Places a tree from `row` on, and answers the next free row. */
  const place = ({ node, children }: TreeNode, row: number): number => {
    // Threads are above the intents.
    const column = Math.max(0, kindOrder.indexOf(node.kind) - 1);
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

/** Characters that fit into a node. */
const nodeCells = 22;

/** Renders the drawing. Each node links to its entry in the page's list; `entryOf` returns the link. */
function graphSvg(
  { nodes, width, height }: Layout,
  edges: readonly GraphEdge[],
  entryOf: (node: GraphNode) => string,
): string {
  const placed = new Map(nodes.map((one) => [one.node.id, one]));
  const lines = edges.map(({ kind, from, to }) => {
    const [start, end] = [placed.get(from), placed.get(to)];
    return start && end ? `<path class="to-${kind}" d="${toPath(start, end)}"/>` : '';
  });
  return `<svg id="view" role="group" aria-label="Drawing of ${nodes.length} nodes; the list below has all of them" data-width="${width}" data-height="${height}"><g id="world"><g class="edges">${lines.join('')}</g>${nodes.map((one) => toNode(one, entryOf(one.node))).join('')}</g></svg>`;
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

/** Style sheet of the page of a graph, after `pageStyle`. */
const graphStyle = `
h1 { font-size: 1.35rem; line-height: 1.25; font-weight: 700; }
.drawing { margin-top: 1rem; }
.drawing .tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin-bottom: .4rem; }
.drawing button { font: inherit; min-width: 2.75rem; min-height: 2.75rem; padding: 0 .8rem; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
.drawing button:focus-visible, #frame:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
#frame { height: 15rem; overflow: hidden; touch-action: none; cursor: grab; padding: 0; }
#frame.held { cursor: grabbing; }
#view { display: block; width: 100%; height: 100%; user-select: none; -webkit-user-select: none; }
#view path { fill: none; stroke: var(--bar); stroke-width: 1.4; }
#view .to-before, #view .to-part-of, #view .to-rests-on { stroke: var(--soft); stroke-opacity: .55; stroke-dasharray: 4 3; }
#view .to-replaced-by, #view .to-revised, #view .to-superseded-by { stroke: var(--open); stroke-width: 2; }
#view rect { fill: var(--card); stroke: var(--bar); }
#view .good rect { fill: var(--good-wash); stroke: var(--good); }
#view .bad rect { fill: var(--bad-wash); stroke: var(--bad); }
#view .open rect { fill: var(--open-wash); stroke: var(--open); }
#view .here rect { stroke-width: 3; }
#view text { fill: var(--ink); font-size: 12.5px; }
#view .kind { fill: var(--soft); font-size: 11px; }
#view .good .kind, #view .bad .kind, #view .open .kind { fill: var(--ink); }
.tree ul ul { margin-left: .45rem; padding-left: .7rem; border-left: 1px solid var(--line); }
.tree li { margin-top: .3rem; }
.tree details { margin-top: 0; }
.tree summary { color: var(--ink); font-size: .92rem; padding: .15rem .3rem; border-radius: 6px; overflow-wrap: anywhere; }
.tree .kind { color: var(--soft); font-size: .8rem; }
.tree .of-intent > details .name { font-weight: 650; }
.name.good { color: var(--good); } .name.bad { color: var(--bad); } .name.open { color: var(--open); }
.tree details p { margin: .2rem 0 0 1rem; }
.tree pre { margin: .3rem 0 .5rem 1rem; font-size: .8rem; }
.tree li:target > details > summary { background: var(--open-wash); outline: 2px solid var(--open); }
@media (max-width: 34rem) {
  .tree ul ul { margin-left: .2rem; padding-left: .45rem; }
}
@media print {
  .drawing .tools { display: none; }
  .drawing { break-inside: avoid; }
}
`;

/**
 * Pan and zoom of the drawing by pointer, wheel and keyboard. The page's content security policy contains its
 * SHA-256. Without the script the drawing is hidden and the page shows only the list.
 */
const graphScript = `
(() => {
  const frame = document.getElementById('frame');
  const view = document.getElementById('view');
  const world = document.getElementById('world');
  const section = document.querySelector('.drawing');
  if (!frame || !view || !world || !section) return;
  section.hidden = false;
  const whole = { width: Number(view.dataset.width), height: Number(view.dataset.height) };
  const at = { x: 0, y: 0, zoom: 1 };
  const shown = 60;
  // A flat drawing keeps room to be zoomed in.
  const least = 240;
  const between = (low, value, high) => Math.min(Math.max(value, low), high);
  const draw = () => {
    const { clientWidth, clientHeight } = frame;
    at.x = between(shown - whole.width * at.zoom, at.x, clientWidth - shown);
    at.y = between(shown - whole.height * at.zoom, at.y, clientHeight - shown);
    world.setAttribute('transform', 'translate(' + at.x + ' ' + at.y + ') scale(' + at.zoom + ')');
  };
  const pan = (x, y) => {
    isFitted = false;
    const before = [at.x, at.y];
    at.x += x;
    at.y += y;
    draw();
    return before[0] !== at.x || before[1] !== at.y;
  };
  const zoom = (by, x = frame.clientWidth / 2, y = frame.clientHeight / 2) => {
    isFitted = false;
    const next = between(0.02, at.zoom * by, 4);
    at.x = x - ((x - at.x) * next) / at.zoom;
    at.y = y - ((y - at.y) * next) / at.zoom;
    at.zoom = next;
    draw();
  };
  let isFitted = true;
  const fit = () => {
    isFitted = true;
    const room = Math.min(innerHeight * 0.6, 640);
    at.zoom = between(0.02, Math.min(frame.clientWidth / whole.width, room / whole.height), 1);
    frame.style.height = Math.max(whole.height * at.zoom, least) + 2 + 'px';
    at.x = (frame.clientWidth - whole.width * at.zoom) / 2;
    at.y = (frame.clientHeight - whole.height * at.zoom) / 2;
    draw();
  };
  const start = () => {
    isFitted = false;
    Object.assign(at, { x: 0, y: 0, zoom: 1 });
    draw();
  };
  const acts = { in: () => zoom(1.25), out: () => zoom(0.8), fit, start };
  for (const button of section.querySelectorAll('button'))
    button.addEventListener('click', () => acts[button.dataset.act]());

  const keys = {
    '+': acts.in, '=': acts.in, '-': acts.out, 0: fit, Home: start,
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
  };
  frame.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  const place = (event) => {
    const { left, top } = frame.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  frame.addEventListener('wheel', (event) => {
    const { x, y } = place(event);
    const step = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY * step * 0.005), x, y);
    // At its edge the page scrolls on.
    else if (!pan(-event.deltaX * step, -event.deltaY * step)) return;
    event.preventDefault();
  }, { passive: false });

  const held = new Map();
  let moved = 0;
  const grip = () => {
    const [a, b = a] = [...held.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  frame.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (held.size === 0) moved = 0;
    if (held.size < 2) held.set(event.pointerId, place(event));
  });
  frame.addEventListener('pointermove', (event) => {
    if (!held.has(event.pointerId)) return;
    const before = grip();
    held.set(event.pointerId, place(event));
    const now = grip();
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y) + Math.abs(now.apart - before.apart);
    // Caught at once, a tap would not reach the node under it.
    if (moved > 4 && !frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId);
    frame.classList.toggle('held', moved > 4);
    if (before.apart > 0 && now.apart > 0) zoom(now.apart / before.apart, now.x, now.y);
    pan(now.x - before.x, now.y - before.y);
  });
  const release = (event) => {
    held.delete(event.pointerId);
    if (held.size === 0) frame.classList.remove('held');
  };
  for (const name of ['pointerup', 'pointercancel', 'pointerleave'])
    frame.addEventListener(name, (event) => {
      if (name !== 'pointerleave' || !frame.hasPointerCapture(event.pointerId)) release(event);
    });
  frame.addEventListener('dragstart', (event) => event.preventDefault());
  frame.addEventListener('click', (event) => {
    if (moved > 4) event.preventDefault();
  }, true);

  const show = (id, isFollowed) => {
    const entry = document.getElementById(id);
    const node = [...view.querySelectorAll('.node')].find((one) => one.getAttribute('href') === '#' + id);
    for (const one of view.querySelectorAll('.here')) one.classList.remove('here');
    if (!entry || !node) return;
    node.classList.add('here');
    if (isFollowed) {
      entry.querySelector('details').open = true;
      return;
    }
    isFitted = false;
    const { e, f } = node.transform.baseVal.consolidate().matrix;
    at.x = frame.clientWidth / 2 - (e + 88) * at.zoom;
    at.y = frame.clientHeight / 2 - (f + 22) * at.zoom;
    draw();
  };
  addEventListener('hashchange', () => show(location.hash.slice(1), true));
  document.querySelector('.tree').addEventListener('click', (event) => {
    const entry = event.target.closest('summary')?.closest('li');
    if (entry) show(entry.id, false);
  });
  addEventListener('resize', () => (isFitted ? fit() : draw()));
  // Paper has another width: there the drawing scales as a picture.
  addEventListener('beforeprint', () => {
    fit();
    view.setAttribute('viewBox', '0 0 ' + frame.clientWidth + ' ' + frame.clientHeight);
  });
  addEventListener('afterprint', () => view.removeAttribute('viewBox'));
  fit();
  if (location.hash !== '') show(location.hash.slice(1), true);
})();
`;

/** Characters of all details together: a page stays one that a telephone opens. */
const maxDetails = 3_000_000;
const maxRelations = 20;

/** The trees as a nested list that needs no script; `entryOf` gives the id of each node's entry. */
function graphList(trees: readonly TreeNode[], entryOf: (node: GraphNode) => string): string {
  let left = maxDetails;
  const toDetail = ({ detail }: GraphNode): string => {
    left -= detail.length;
    return left < 0 ? 'left out: the page would be too large; `--json` has it' : detail;
  };
  const toItem = ({ node, children, also }: TreeNode): string => {
    const relations = also.slice(0, maxRelations).flatMap((one) => {
      const words = toRelation(one);
      return words === undefined ? [] : `<a href="#${entryOf(one.from)}">${escapeHtml(words, 240)}</a>`;
    });
    const tags = [...toTags(node)].map(
      (tag) => `<span class="pill ${toTone(tag) ?? ''}">${escapeHtml(tag, 60)}</span>`,
    );
    return `<li id="${entryOf(node)}" class="of-${node.kind}"><details><summary><span class="kind">${node.kind}</span> <bdi class="name ${toneOf(node)}">${escapeHtml(toName(node), 200)}</bdi> ${tags.join(' ')}</summary>${relations.length === 0 ? '' : `<p class="small soft">${relations.join(', ')}</p>`}<pre><bdi>${escapeHtml(toDetail(node))}</bdi></pre></details>${toList(children)}</li>`;
  };
  const toList = (some: readonly TreeNode[]): string =>
    some.length === 0 ? '' : `<ul>${some.map(toItem).join('')}</ul>`;
  return `<div class="tree">${toList(trees)}</div>`;
}

/** Returns the tone of the tag that begins the node's name (`commit 1a2b…`). */
function toneOf(node: GraphNode): string {
  const said = node.tags.find((tag) => toName(node).startsWith(tag));
  return (said === undefined ? undefined : toTone(said)) ?? '';
}

/**
 * A thread as one self-contained page: a drawing to look around in, and the same as a nested list, which is all of the
 * page where no script runs. No request, no link out; everything from outside is escaped.
 */
export function renderGraphHtml(graph: GraphData): string {
  const trees = toTrees(graph);
  const numbers = new Map(graph.nodes.map(({ id }, index) => [id, index]));
  const entryOf = ({ id }: GraphNode): string => `n${numbers.get(id)}`;
  const thread = `<code><bdi>${escapeHtml(graph.thread_id, 128)}</bdi></code>`;
  const cut =
    graph.truncated === true ? '<p class="soft">This is not all of it: what is newest is drawn.</p>' : '';
  const isEmpty = graph.nodes.length === 0;
  const drawing = `<section class="drawing" hidden aria-labelledby="drawing"><h2 id="drawing">Drawing</h2>
<div class="tools"><button type="button" data-act="out" aria-label="Zoom out">−</button><button type="button" data-act="in" aria-label="Zoom in">+</button><button type="button" data-act="fit">Fit</button><button type="button" data-act="start">Full size</button></div>
<div id="frame" class="card" tabindex="0" role="group" aria-label="Drawing. Arrow keys move it, plus and minus zoom, 0 fits it, Home shows it in full size.">${graphSvg(layOut(trees), graph.edges, entryOf)}</div></section>`;
  const list = `<section aria-labelledby="list"><h2 id="list">All of it, the newest last</h2><div class="card">${graphList(trees, entryOf)}</div></section>`;
  return pageFrame({
    title: `${graph.title} · thread`,
    style: `${pageStyle}${graphStyle}`,
    ...(isEmpty ? {} : { script: graphScript }),
    head: `<span><strong>writ</strong> thread ${thread}</span>`,
    main: `<h1><bdi>${escapeHtml(graph.title, 256)}</bdi></h1>
<p class="soft small">${escapeHtml(countsOf(graph), 400)}</p>
${cut}${isEmpty ? '<p class="card soft">Nothing was planned or run in it yet.</p>' : `${drawing}\n${list}`}`,
    foot: `Made from the stored objects of thread ${thread}. This page is a summary; <code>writ verify</code> verifies what was sealed.`,
  });
}

/** `2 plans, 5 tasks, …`, as far as there are any. */
function countsOf({ nodes }: GraphData): string {
  const counts = new Map<string, number>();
  for (const { kind } of nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .map(([kind, count]) => `${count} ${kind}${count === 1 || kind === 'evidence' ? '' : 's'}`)
    .join(', ');
}
