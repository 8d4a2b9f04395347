import type { GraphData, GraphNode } from '../../../api/schemas/graph-schema.ts';
import { escapeHtml } from '../escape-html.ts';
import { pageFrame } from '../page-frame.ts';
import { pageStyle } from '../page-style.ts';
import { layOut } from './graph-layout.ts';
import { graphList } from './graph-list.ts';
import { graphScript } from './graph-script.ts';
import { graphStyle } from './graph-style.ts';
import { graphSvg } from './graph-svg.ts';
import { toTrees } from './graph-tree.ts';

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
<div class="tools"><button type="button" data-act="out" aria-label="Zoom out">−</button><button type="button" data-act="in" aria-label="Zoom in">+</button><button type="button" data-act="fit">Fit</button><button type="button" data-act="start">Start</button></div>
<div id="frame" class="card" tabindex="0" role="group" aria-label="Drawing. Arrow keys move it, plus and minus zoom, 0 fits it, Home goes to the start.">${graphSvg(layOut(trees), graph.edges, entryOf)}</div></section>`;
  const list = `<section aria-labelledby="list"><h2 id="list">All of it, the newest last</h2><div class="card">${graphList(trees, entryOf)}</div></section>`;
  return pageFrame({
    title: `${graph.title} · thread`,
    style: `${pageStyle}${graphStyle}`,
    ...(isEmpty ? {} : { script: graphScript }),
    head: `<span><strong>writ</strong> thread ${thread}</span>`,
    main: `<h1><bdi>${escapeHtml(graph.title, 256)}</bdi></h1>
<p class="soft small">${escapeHtml(countsOf(graph), 400)}</p>
${cut}${isEmpty ? '<p class="card soft">Nothing was planned or run in it yet.</p>' : `${drawing}\n${list}`}`,
    foot: `Made from the stored objects of thread ${thread}. This page is a summary; <code>writ verify</code> judges what was sealed.`,
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
