import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Page } from '../../page/page.ts';
import { type Graph, layOutGraph, sizes } from '../../words/lay-out-graph.ts';
import { refusalWords } from '../../words/refusal-words.ts';
import { Command } from '../command.ts';
import { h } from '../h.ts';
import { oneLine, text } from '../text.ts';

/** What came of what in this thread: a drawing, and the same as a list. */
export function GraphPane({ page: { state, acts } }: { readonly page: Page }): VNode {
  const { seen } = state;
  const [graph, setGraph] = useState<Graph>();
  const [told, setTold] = useState('Drawing …');
  const load = async (): Promise<void> => {
    const answer = await acts.read('graph');
    setTold(answer.ok ? '' : refusalWords(answer));
    if (answer.ok) setGraph(answer.value as unknown as Graph);
  };
  const mark = `${seen?.threadId} ${seen?.status === 'thinking'} ${seen?.patchsets.length}`;
  useEffect(() => void load(), [mark]);
  const isEmpty = graph !== undefined && graph.nodes.length === 0;
  return h(
    'div',
    { class: 'graph' },
    told !== '' && h('p', { role: 'status', class: 'soft' }, text(told)),
    isEmpty && h('p', { class: 'empty' }, 'Nothing was planned or run in this thread yet.'),
    graph !== undefined && !isEmpty && h(Drawing, { graph }),
    graph?.truncated === true && h('p', { class: 'soft' }, 'This is not all of it: what is newest is drawn.'),
    h(Command, {
      words: 'the same in a terminal; --html FILE makes a page of it',
      command: `writ graph ${seen?.threadId ?? ''}`,
    }),
  );
}

function Drawing({ graph }: { readonly graph: Graph }): VNode {
  const { placed, lines, width, height } = layOutGraph(graph);
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'drawing', tabIndex: 0, role: 'group', 'aria-label': 'Drawing; the list below has all of it' },
      h(
        'svg',
        { width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
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
      'ul',
      { class: 'rows' },
      graph.nodes.map(({ id, kind, label, tags, detail }) =>
        h(
          'li',
          { key: id },
          h(
            'details',
            null,
            h(
              'summary',
              null,
              h('span', { class: 'tag' }, kind),
              h('span', null, text(label)),
              tags.map((tag) => h('span', { key: tag, class: `tag tag-${tag}` }, text(tag))),
            ),
            h('pre', { tabIndex: 0 }, text(detail)),
          ),
        ),
      ),
    ),
  );
}
