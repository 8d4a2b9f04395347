import t, { type Test } from 'tap';
import { graphLimits } from '../../../api/graph/drawing.ts';
import { joinGraphs } from '../../../api/graph/thread-graph.ts';
import type { RunRecord } from '../../../api/graph/thread-record.ts';
import { toGraph } from '../../../api/graph/to-graph.ts';
import type { GraphData, GraphNode } from '../../../api/schemas/other-schemas.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import {
  file,
  idOf,
  intentBody,
  madeIntent,
  madeRun,
  madeThread,
  patchsetBody,
  planBody,
  taskBody,
  threadId,
} from './made-thread.ts';

/** Holds of every graph, whatever it was made of. */
function requireSound(t: Test, graph: GraphData): void {
  const ids = new Set(graph.nodes.map(({ id }) => id));
  t.equal(ids.size, graph.nodes.length, 'each id stands once');
  t.strictSame(faultsOf('graph', JSON.parse(JSON.stringify(graph))), []);
  const loose = graph.edges.filter(({ from, to }) => !ids.has(from) || !ids.has(to));
  t.strictSame(loose, [], 'each edge leads from a node to a node');
}

function nodeOf({ nodes }: GraphData, id: string): GraphNode | undefined {
  return nodes.find((node) => node.id === id);
}

function edgesOf({ edges }: GraphData): readonly string[] {
  return edges.map(({ kind, from, to }) => `${kind} ${from} ${to}`);
}

t.test('a graph shows a decided run from its intent to its decision', async (t) => {
  const graph = toGraph(madeThread());
  requireSound(t, graph);
  t.strictSame(
    graph.nodes.map(({ kind }) => kind),
    ['intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'evidence', 'evidence', 'evidence', 'decision'],
  );
  t.equal(graph.title, 'Prices are exact');
  t.equal(graph.truncated, undefined);
  t.strictSame(edgesOf(graph).slice(0, 4), [
    `plan ${threadId} ${idOf('one/plan')}`,
    `task ${idOf('one/plan')} ${idOf('one/task')}`,
    `run ${idOf('one/plan')} ${idOf('one')}`,
    `patchset ${idOf('one')} ${idOf('one/patchset')}`,
  ]);
  t.match(nodeOf(graph, idOf('one')), { label: `run ${idOf('one')}`, tags: ['commit'] });
  t.equal(toGraph(madeThread({ title: 'what was said first' })).title, 'what was said first');
});

t.test('each spec that was run is a version of the intent, in run order', async (t) => {
  const older = 'b'.repeat(64);
  const before = madeRun('before');
  const files = [
    file('intent.json', 'intent', { ...intentBody, intentspec_digest: older, summary: 'Before' }, threadId),
    ...before.files.filter(({ path }) => path !== 'intent.json'),
  ];
  const graph = toGraph(madeThread({ runs: [{ ...before, files }, madeRun('one')] }));
  requireSound(t, graph);
  const old = `${threadId}@${older.slice(0, 16)}`;
  t.match(nodeOf(graph, old), { label: 'Before', tags: ['earlier'] });
  t.equal(graph.title, 'Prices are exact', 'the thread is called as it stands now');
  const edges = edgesOf(graph);
  t.ok(edges.includes(`revised ${old} ${threadId}`));
  t.ok(edges.includes(`plan ${old} ${idOf('before/plan')}`));
  t.ok(edges.includes(`plan ${threadId} ${idOf('one/plan')}`));
});

t.test('a graph marks absent objects as missing and unreadable objects as damaged', async (t) => {
  const run = madeRun('one');
  const without = (path: string): RunRecord => ({
    ...run,
    files: run.files.filter((one) => one.path !== path),
  });
  for (const [path, id, kind] of [
    ['plan.json', 'one/plan', 'plan'],
    ['tasks/0001.json', 'one/task', 'task'],
    ['patchset.json', 'one/patchset', 'patchset'],
    ['evidence/1.json', 'one/evidence/1', 'evidence'],
  ] as const) {
    const graph = toGraph(madeThread({ runs: [without(path)] }));
    requireSound(t, graph);
    t.match(nodeOf(graph, idOf(id)), { kind, label: `missing ${kind}`, tags: ['missing'] }, path);
  }
  const cut = toGraph(madeThread({ runs: [{ ...without('patchset.json'), isWhole: false }] }));
  t.notOk(nodeOf(cut, idOf('one/patchset')), 'of what was not read whole, nothing is said to be missing');
  const headless = toGraph(madeThread({ runs: [without('run.json')] }));
  t.match(nodeOf(headless, run.runId), { tags: ['commit', 'damaged'], detail: /^`run.json` is missing/ });
  for (const { path } of run.files) {
    for (const bytes of [Buffer.from('{'), Buffer.from('[]'), Buffer.from('null'), Buffer.alloc(0)]) {
      const files = run.files.map((one) => (one.path === path ? { path, bytes } : one));
      const graph = toGraph(madeThread({ runs: [{ ...run, files }] }));
      requireSound(t, graph);
      // Of the contract there is another copy.
      if (path === 'intent.json') continue;
      t.ok(
        graph.nodes.some(({ tags }) => tags.includes('damaged')),
        `${path}: ${bytes}`,
      );
    }
  }
  const unread = madeThread({ runs: [{ ...run, files: [], problem: 'its record cannot be listed' }] });
  t.match(toGraph(unread).nodes.at(-1), { id: run.runId, kind: 'run', tags: ['decided', 'damaged'] });
});

t.test('an object with an unknown field keeps its id and its edges', async (t) => {
  const run = madeRun('one');
  const files = run.files.map((one) =>
    one.path === 'patchset.json'
      ? {
          path: one.path,
          bytes: Buffer.from(
            `{"colour":"red",${Buffer.from(one.bytes ?? [])
              .toString()
              .slice(1)}`,
          ),
        }
      : one,
  );
  const graph = toGraph(madeThread({ runs: [{ ...run, files }] }));
  t.match(nodeOf(graph, idOf('one/patchset')), { tags: ['damaged'], detail: /colour/ });
  t.ok(edgesOf(graph).includes(`evidence ${idOf('one/patchset')} ${idOf('one/evidence/0')}`));
});

t.test('cycles, duplicate ids and misplaced ids still produce a valid graph', async (t) => {
  const [a, b, plan, other] = ['a', 'b', 'plan', 'other'].map(idOf) as [string, string, string, string];
  const run: RunRecord = {
    runId: idOf('odd'),
    state: 'interrupted',
    place: 'refs/ai/runs/odd',
    isWhole: true,
    files: [
      file('plans/0001/plan.json', 'plan', { ...planBody(1, [a, b, plan]), previous: other }, plan),
      file('plans/0002/plan.json', 'plan', { ...planBody(2, [a]), previous: plan }, other),
      file('tasks/0001.json', 'task', taskBody(1, { depends_on: [b, a] }), a),
      file('tasks/0002.json', 'task', taskBody(2, { depends_on: [a] }), b),
      file('tasks/0003.json', 'task', taskBody(3), a),
      file('tasks/0004.json', 'task', taskBody(4), a),
      file('patchset.json', 'patchset', patchsetBody(a), idOf('odd')),
    ],
  };
  const graph = toGraph(madeThread({ runs: [run] }));
  requireSound(t, graph);
  t.equal(
    graph.nodes.filter(({ kind }) => kind === 'task').length,
    5,
    'four that are there, one that is none',
  );
  t.match(nodeOf(graph, idOf('odd')), { kind: 'run' });
  t.ok(edgesOf(graph).includes(`before ${a} ${b}`) && edgesOf(graph).includes(`before ${b} ${a}`));
});

t.test('a graph shows the state, history and successor of an intent', async (t) => {
  const event = (number: number, more: object) =>
    file(
      `events/${number}.json`,
      'intent_event',
      { intent: threadId, kind: 'deprecated', by: 'maintainer', reason: 'better known', ...more },
      idOf(`event ${number}`),
    );
  const superseded = event(1, { status: 'deprecated', superseded_by: 'better' });
  const better = {
    ...madeIntent([event(2, { kind: 'created', supersedes: 'prices' })]),
    place: 'refs/ai/intents/better',
    intent: file('intent.json', 'intent', { ...intentBody, summary: 'Better' }, idOf('better')),
  };
  const graph = toGraph(madeThread({ intents: [madeIntent([superseded]), better] }));
  requireSound(t, graph);
  t.match(nodeOf(graph, threadId), {
    tags: ['deprecated'],
    detail: /deprecated by maintainer: better known/,
  });
  t.match(nodeOf(graph, idOf('better')), { label: 'Better', tags: ['other-thread'] });
  t.equal(edgesOf(graph).filter((edge) => edge === `superseded-by ${threadId} ${idOf('better')}`).length, 1);
  const alone = toGraph(
    madeThread({ intents: [madeIntent([superseded, { path: 'events/2.json', bytes: Buffer.from('x') }])] }),
  );
  t.match(nodeOf(alone, 'intents/better'), { tags: ['missing'] });
  t.match(nodeOf(alone, threadId), { tags: ['deprecated', 'damaged'] });
});

t.test('the graphs of a session are joined without duplicate nodes or edges', async (t) => {
  const one = toGraph(madeThread());
  const seen = one.nodes.map((node) => (node.kind === 'intent' ? { ...node, tags: ['other-thread'] } : node));
  const other = toGraph(madeThread({ runs: [madeRun('two')] }));
  for (const parts of [
    [{ ...one, nodes: seen }, one, other],
    [one, { ...one, nodes: seen }, other],
  ]) {
    const joined = joinGraphs({ threadId: idOf('session'), title: 'said first' }, parts);
    requireSound(t, joined);
    t.match(joined, { thread_id: idOf('session'), title: 'said first' });
    t.equal(joined.truncated, undefined);
    t.strictSame(nodeOf(joined, threadId), nodeOf(one, threadId));
    t.equal(joined.edges.length, one.edges.length + other.edges.length);
  }
  t.equal(joinGraphs({ threadId }, [{ ...one, truncated: true }]).truncated, true);
  const wide = Array.from(
    { length: graphLimits.nodes },
    (_, index) => ({ ...one.nodes[0], id: `${index}` }) as GraphNode,
  );
  const cut = joinGraphs({ threadId }, [{ ...one, nodes: wide }, one]);
  requireSound(t, cut);
  t.match([cut.nodes.length, cut.truncated], [graphLimits.nodes, true]);
});

t.test('a graph limits the text of an object and uses only its own words as tags', async (t) => {
  const run = madeRun('one');
  const long = 'x'.repeat(100_000);
  const files = run.files.map((one) =>
    one.path === 'run.json'
      ? one
      : one.path === 'tasks/0001.json'
        ? file(
            one.path,
            'task',
            taskBody(1, { title: long, goal: long, plan: idOf('one/plan') }),
            idOf('one/task'),
          )
        : one,
  );
  const graph = toGraph(madeThread({ title: long, runs: [{ ...run, files }] }));
  const size = JSON.stringify(graph).length;
  t.ok(size < 20_000, `${size} characters`);
});

t.test('a graph over its node or edge limit is cut and marked as truncated', async (t) => {
  const tasks = Array.from({ length: 300 }, (_, index) => idOf(`task ${index}`));
  const every = tasks.map((id, index) =>
    file(`tasks/${index}.json`, 'task', taskBody(index, { depends_on: tasks }), id),
  );
  const dense = toGraph(madeThread({ runs: [{ ...madeRun('one'), files: every, state: 'running' }] }));
  requireSound(t, dense);
  t.equal(dense.edges.length, graphLimits.edges);
  t.equal(dense.truncated, true);
  const missing = Array.from({ length: graphLimits.nodes + 10 }, (_, index) => idOf(`missing ${index}`));
  const wide = { ...madeRun('one'), files: [file('plan.json', 'plan', planBody(1, missing), idOf('wide'))] };
  const cut = toGraph(madeThread({ runs: [wide] }));
  requireSound(t, cut);
  t.equal(cut.nodes.length, graphLimits.nodes);
  t.equal(cut.truncated, true);
  t.equal(toGraph(madeThread({ isTruncated: true })).truncated, true);
  t.equal(toGraph(madeThread({ runs: [{ ...madeRun('one'), isWhole: false }] })).truncated, true);
});
