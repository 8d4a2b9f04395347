import { PassThrough } from 'node:stream';
import t from 'tap';
import type { GraphData, GraphEdge, GraphNode } from '../../../../api/schemas/other-schemas.ts';
import { printGraph, type TreeNode, toTrees } from '../../../../bin/report/graph/graph-text.ts';
import { cellWidth, clipCells, createPrinter, openSink } from '../../../../bin/terminal/print.ts';

function printed(graph: GraphData, colour = false): string {
  const stream = new PassThrough();
  const sink = openSink(stream);
  printGraph(
    createPrinter(sink, sink, { quiet: false, colourOut: colour, colourErr: false, before: () => {} }),
    graph,
  );
  return String(stream.read() ?? '');
}

function node(kind: GraphNode['kind'], id: string, more: Partial<GraphNode> = {}): GraphNode {
  return { id, kind, label: id, tags: [], detail: '', ...more };
}

function edge(kind: GraphEdge['kind'], from: string, to: string): GraphEdge {
  return { kind, from, to };
}

function graph(nodes: readonly GraphNode[], edges: readonly GraphEdge[] = []): GraphData {
  return { thread_id: 't', title: 'title', nodes, edges };
}

t.test('a thread is printed as a tree, with all passed evidence on one line', async (t) => {
  const drawn = printed(
    graph(
      [
        node('intent', 'Prices', { tags: ['closed'], detail: 'bugfix at low risk' }),
        node('plan', 'plan 1'),
        node('plan', 'plan 2', { tags: ['revision'], detail: 'replanned after scope-creep\nmore' }),
        node('task', 'task 1: one'),
        node('task', 'task 2: two'),
        node('run', 'run r', { tags: ['commit'] }),
        node('patchset', '1 file +1 -0', { tags: ['applied'] }),
        node('evidence', 'fast:unit', { tags: ['passed'] }),
        node('evidence', 'fast:slow', { tags: ['failed'], detail: 'exit code: 1' }),
        node('evidence', 'fast', { tags: ['passed'] }),
        node('decision', 'commit 1234', { tags: ['commit'], detail: 'all passed' }),
      ],
      [
        edge('plan', 'Prices', 'plan 1'),
        edge('plan', 'Prices', 'plan 2'),
        edge('replaced-by', 'plan 1', 'plan 2'),
        edge('task', 'plan 2', 'task 1: one'),
        edge('task', 'plan 2', 'task 2: two'),
        edge('before', 'task 1: one', 'task 2: two'),
        edge('run', 'plan 2', 'run r'),
        edge('patchset', 'run r', '1 file +1 -0'),
        edge('evidence', '1 file +1 -0', 'fast:unit'),
        edge('evidence', '1 file +1 -0', 'fast:slow'),
        edge('evidence', '1 file +1 -0', 'fast'),
        edge('decision', 'run r', 'commit 1234'),
      ],
    ),
  );
  t.equal(
    drawn,
    `title
thread t

intent    Prices [closed]  bugfix at low risk
├─ plan      1
└─ plan      2 [revision]  in place of plan 1; replanned after scope-creep
   ├─ task      1: one
   ├─ task      2: two  after task 1
   └─ run       r [commit]
      ├─ patchset  1 file +1 -0 [applied]
      │  ├─ evidence  fast:unit, fast [passed]
      │  └─ evidence  fast:slow [failed]  exit code: 1
      └─ decision  commit 1234  all passed
`,
  );
});

t.test('a decision to abandon is called refused, as in every report', async (t) => {
  const refused = graph(
    [node('run', 'run r', { tags: ['abandon'] }), node('decision', 'abandon', { tags: ['abandon'] })],
    [edge('decision', 'run r', 'decision')],
  );
  t.equal(printed(refused), 'title\nthread t\n\nrun       r [refused]\ndecision  refused\n');
});

t.test('no line is wider than 80 columns, whatever the names contain', async (t) => {
  const names = [
    'x'.repeat(300),
    '价格'.repeat(100),
    '🙂'.repeat(100),
    'e\u0301'.repeat(300),
    '\x1b[31m'.repeat(50),
  ];
  const nodes = names.map((name, index) =>
    node('task', `${index}`, { label: name, tags: ['waiting', 'damaged'], detail: name }),
  );
  const drawn = printed({ ...graph(nodes), title: '价'.repeat(200) });
  for (const line of drawn.split('\n')) t.ok(cellWidth(line) <= 80, `${cellWidth(line)}`);
  t.notMatch(drawn, /\x1b/);
  t.match(drawn, /\[waiting damaged\]/);
  t.match(printed(graph(nodes), true), /\x1b\[31mdamaged\x1b/, 'colours where they are wanted');
});

t.test('an empty thread and a truncated thread print a note', async (t) => {
  t.match(printed(graph([])), 'nothing was planned or run in it yet');
  t.match(printed({ ...graph([node('intent', 'a')]), truncated: true }), 'this is not all of it');
});

t.test('any set of edges gives a tree that holds each node once', async (t) => {
  const kinds = ['task', 'run', 'patchset', 'evidence', 'run'] as const;
  const nodes = kinds.map((kind, index) => node(kind, `${index}`));
  const every = nodes.flatMap(({ id: from }) =>
    nodes.flatMap(({ id: to }) =>
      (['run', 'before', 'evidence'] as const).map((kind) => edge(kind, from, to)),
    ),
  );
  const count = (trees: readonly TreeNode[]): number =>
    trees.reduce((sum, { children }) => sum + 1 + count(children), 0);
  const trees = toTrees(graph(nodes, [...every, edge('run', 'nobody', '1'), edge('run', '1', 'nobody')]));
  t.equal(count(trees), nodes.length);
  t.equal(count(toTrees(graph(nodes, every.toReversed()))), nodes.length);
});

t.test('text width is measured in terminal cells', async (t) => {
  for (const [text, width] of [
    ['', 0],
    ['plain', 5],
    ['价格', 4],
    ['ｆｕｌｌ', 8],
    ['e\u0301', 1],
    ['🙂', 2],
  ] as const)
    t.equal(cellWidth(text), width, text);
  t.equal(clipCells('abcdef', 4), 'abc…');
  t.equal(clipCells('abcd', 4), 'abcd');
  t.equal(clipCells('价格表', 4), '价…');
  t.equal(clipCells('abc', 0), '');
});
