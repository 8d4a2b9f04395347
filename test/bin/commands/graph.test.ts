import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { FoundFile } from '../../../api/graph/thread-record.ts';
import type { GraphData } from '../../../api/schemas/other-schemas.ts';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { commands } from '../../../bin/command-table.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { createRecordedWorker, type RecordedAnswer } from '../../../plugins/recorded-worker/plugin.ts';
import { openExternalLocalStore } from '../../../plugins/store/external-local-store.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import type { ObjectBody } from '../../../store/object-shapes.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { file, idOf, intentBody, madeRun, threadId } from '../../api/graph/made-thread.ts';
import { type Json, makeSample, merge, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { ground } from '../../session/state/walk.ts';
import { looseObject } from '../../workspace/git/loose-object.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

function add(name: string, body: string): string {
  const lines = [`import test from 'node:test';`, `test('${name}', () => {${body}});`];
  const path = `test/${name}.test.js`;
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,2 @@\n${lines.map((line) => `+${line}\n`).join('')}`;
}

const contract: Json = {
  intent: {
    changeType: 'feature',
    objectives: ['write test/one.test.js', 'write test/two.test.js'],
    inScope: ['src/', 'test/'],
  },
  execution: {
    retry: { maxRetries: 1, backoffSeconds: 0 },
    replan: { triggers: ['repeated-test-fail'] },
    concurrency: { maxParallelTasks: 1 },
  },
};
const failing = add('one', ` throw new Error('not yet'); `);
const replanned: readonly RecordedAnswer[] = [
  { task: 1, attempt: 1, patch: failing },
  { task: 1, attempt: 2, patch: failing },
  { task: 1, attempt: 1, revision: 2, patch: add('one', '') },
  { task: 2, attempt: 1, patch: add('two', '') },
];

async function work(
  sample: Sample,
  answers: readonly RecordedAnswer[],
  more: Json = {},
  meanwhile = async () => {},
) {
  const worker = createRecordedWorker(
    answers.map((answer) => ({ ...answer, delayMs: 1 })),
    meanwhile,
  );
  return sample.run({ worker, clock: systemClock }, merge(contract, more));
}

/** `writ graph …` in the sample's repository. */
function ask({ root, env }: Sample, ...argv: readonly string[]) {
  return runLine(['graph', ...argv], commands, { cwd: root, env });
}

async function graphOf(t: Test, sample: Sample, thread: string): Promise<GraphData> {
  const { code, out } = await ask(sample, thread, '--json');
  t.equal(code, 0);
  const { data } = JSON.parse(out);
  t.strictSame(faultsOf('graph', data), []);
  const ids = new Set(data.nodes.map(({ id }: { id: string }) => id));
  t.equal(ids.size, data.nodes.length);
  t.ok(data.edges.every(({ from, to }: { from: string; to: string }) => ids.has(from) && ids.has(to)));
  return data;
}

function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

long('the graph of a replanned thread shows both runs with their plans and decisions', async (t) => {
  const sample = sampleOf(t);
  const gone = await work(sample, [{ task: 1, attempt: 1, nothing: 'no idea' }], {
    execution: { retry: { maxRetries: 0 } },
  });
  t.equal(gone.decision?.type, 'abandon');
  const kept = await work(sample, replanned);
  t.equal(kept.decision?.type, 'commit', String(kept.decision?.rationale));
  t.equal(gone.threadId, kept.threadId);
  const graph = await graphOf(t, sample, kept.threadId);
  t.match(graph, { thread_id: kept.threadId, title: 'Prices are exact' });
  t.equal(graph.truncated, undefined);
  const labels = (kind: string) => graph.nodes.filter((node) => node.kind === kind).map(({ label }) => label);
  t.strictSame(labels('plan'), ['plan 1', 'plan 1', 'plan 2']);
  t.strictSame(
    graph.nodes
      .filter(({ kind, tags }) => kind === 'run' && !tags.includes('attempt'))
      .map(({ id, tags }) => [id, tags]),
    [
      [gone.runId, ['abandon']],
      [kept.runId, ['commit']],
    ],
  );
  t.strictSame(
    labels('decision').slice(-6),
    [
      'retry',
      'checkpoint, then replan',
      'checkpoint, then merge',
      'checkpoint, then merge',
      `commit ${kept.decision?.commitSha?.slice(0, 12)}`,
    ].toSpliced(0, 0, 'abandon'),
  );
  t.equal(graph.edges.filter(({ kind }) => kind === 'replaced-by').length, 1);
  t.equal(graph.edges.filter(({ kind }) => kind === 'revised').length, 1, 'the contract had another digest');
  t.equal(graph.edges.filter(({ kind }) => kind === 'part-of').length, 5);
  t.ok(graph.nodes.every(({ tags }) => !tags.includes('missing') && !tags.includes('damaged')));

  const drawn = await ask(sample, kept.threadId);
  t.equal(drawn.code, 0);
  t.notMatch(drawn.out, /\x1b/, 'no colour where there is no terminal');
  for (const line of drawn.out.split('\n')) t.ok([...line].length <= 80, line);
  t.ok(drawn.out.indexOf(gone.runId) < drawn.out.indexOf(kept.runId), 'the newest is last');
  t.match(drawn.out, /└─ plan {6}2 \[revision\] {2}in place of plan 1; replanned after/);
  t.match(drawn.out, /evidence {2}integration, security, release \[skipped\]/);
  t.equal((await ask(sample, kept.threadId)).out, drawn.out, 'twice the same');
  t.equal((await ask(sample, kept.threadId.slice(0, 6))).out, drawn.out, 'a beginning is enough');
  t.strictSame((await ask(sample, kept.threadId, '--quiet')).out.split('\n').length, 3);
  const elsewhere = await runLine(['graph', kept.threadId, '--repo', sample.root], commands, {
    env: sample.env,
  });
  t.equal(elsewhere.out, drawn.out);
  const { out: runs } = await runLine(['runs', '--json'], commands, { cwd: sample.root, env: sample.env });
  t.strictSame(
    JSON.parse(runs).data.runs.map((run: { thread_id: string }) => run.thread_id),
    [kept.threadId, kept.threadId],
  );

  const page = join(sample.home, 'thread.html');
  t.equal((await ask(sample, kept.threadId, '--html', page)).out, `${page}\n`);
  t.match(readFileSync(page, 'utf8'), /<title>Prices are exact · thread/);
  t.equal((await ask(sample, kept.threadId, '--html', '-')).out, readFileSync(page, 'utf8'));
  t.match(
    JSON.parse((await ask(sample, kept.threadId, '--html', page, '--json')).out).error.code,
    'OUTPUT_EXISTS',
  );
  t.equal((await ask(sample, kept.threadId, '--html', '-', '--json')).code, 129);
  t.match((await ask(sample, '--help')).out, /writ graph 0196a46c --html thread\.html/);

  const unknown = await ask(sample, '0196ffff', '--json');
  t.equal(unknown.code, 1);
  t.match(JSON.parse(unknown.out).error, { code: 'THREAD_NOT_FOUND', details: { thread_id: '0196ffff' } });
  t.match((await ask(sample, kept.runId)).err, `writ graph ${kept.threadId}`);
  t.match((await ask(sample, kept.threadId.slice(0, 3))).err, /no thread `019` in/);
});

long('the graph shows running, waiting and cancelled runs with their progress so far', async (t) => {
  const sample = sampleOf(t);
  const seen: GraphData[] = [];
  let thread = '';
  const look = async (): Promise<void> => {
    const { out } = await runLine(['runs', '--json'], commands, { cwd: sample.root, env: sample.env });
    thread = JSON.parse(out).data.runs[0].thread_id;
    if (seen.length === 0) seen.push(await graphOf(t, sample, thread));
  };
  const answers = [1, 2].map((task) => ({ task, attempt: 1, patch: add(`n${task}`, ''), costUnits: 4 }));
  const waiting = await work(sample, answers, { constraints: { resources: { maxCostUnits: 5 } } }, look);
  t.equal(waiting.state, 'waiting');
  t.strictSame(
    seen[0]?.nodes.map(({ kind, tags }) => [kind, ...tags]),
    [['intent', 'unrecorded'], ['plan'], ['task'], ['task'], ['task', 'gate', 'fast'], ['run', 'running']],
    'at work',
  );
  const stands = await graphOf(t, sample, thread);
  t.match(stands.nodes.find(({ id }) => id === waiting.runId)?.tags, ['waiting']);
  t.ok(stands.nodes.some(({ kind }) => kind === 'patchset'));
  const line = ['cancel', waiting.runId, '--reason', 'not needed', '--json'];
  const { code } = await runLine(line, commands, { cwd: sample.root, env: sample.env });
  t.equal(code, 0);
  const over = await graphOf(t, sample, thread);
  t.match(over.nodes.find(({ id }) => id === waiting.runId)?.tags, ['abandon']);
  t.match(over.nodes.findLast(({ kind }) => kind === 'decision')?.detail, /cancelled/);
});

function filesOf(files: readonly FoundFile[]): readonly (readonly [string, Uint8Array])[] {
  return files.flatMap(({ path, bytes }) => (bytes ? [[path, bytes] as const] : []));
}

/** Puts files on a ref as anybody can who may push. */
async function put({ root }: Sample, ref: string, files: readonly FoundFile[]): Promise<void> {
  const repository = await openRepository(root);
  const store = openGitNativeStore(repository, { clock: systemClock, actorId: 'anybody' });
  await store.writeTree(ref, {
    message: 'anything',
    keepExisting: false,
    files: filesOf(files),
  });
}

t.test('the graph marks damaged records and escapes hostile text', async (t) => {
  const sample = sampleOf(t);
  const { runId, files } = madeRun('pushed');
  const summary = '\x1b[2Jred \u202egnp.exe <script>\u{e0041}';
  const hostile = file('intent.json', 'intent', { ...intentBody, summary }, threadId);
  const others = files.filter(({ path }) => !/^(?:intent|patchset|plan)\.json$/.test(path));
  await put(sample, `refs/ai/runs/${runId}`, [
    ...others,
    hostile,
    { path: 'plan.json', bytes: Buffer.from('{"object_type":"plan"}') },
    { path: 'evidence/9.json', bytes: Buffer.alloc(5 * 1024 * 1024) },
    { path: 'task-1/revision-1/attempt-1/run.json', bytes: Buffer.from([0xff, 0xfe]) },
  ]);
  const tagged = (tag: string, { nodes }: GraphData) =>
    nodes.filter(({ tags }) => tags.includes(tag)).map(({ kind }) => kind);
  const graph = await graphOf(t, sample, threadId);
  t.strictSame(tagged('missing', graph), ['plan', 'patchset']);
  t.strictSame(tagged('damaged', graph).toSorted(), ['evidence', 'plan', 'run']);
  t.match(graph.nodes.find(({ id }) => id.endsWith('evidence/9.json'))?.detail, /^it is larger than/);
  const { out } = await ask(sample, threadId);
  t.notMatch(out, /[\x00-\x09\x0b-\x1f\u202e\u{e0041}]/u);
  t.match(out, '\\e[2Jred \\u{202e}gnp.exe');
  t.ok(out.split('\n').every((line) => [...line].length <= 80));

  // A tree that is not here, and a ref that names no commit.
  const { git } = sample;
  const absent = git('rev-parse', `refs/ai/runs/${runId}:evidence`);
  rmSync(looseObject(join(sample.root, '.git'), absent));
  git('update-ref', `refs/ai/runs/${idOf('blob')}`, git('hash-object', '-w', 'package.json'));
  const holed = await graphOf(t, sample, threadId);
  t.match(
    holed.nodes.find(({ id }) => id === runId),
    { kind: 'run' },
  );
});

t.test('the graph shows superseded intents and runs of the external store', async (t) => {
  const sample = sampleOf(t);
  const event = (number: string, more: Partial<ObjectBody<'intent_event'>>) =>
    file(
      `events/${number}.json`,
      'intent_event',
      { intent: threadId, kind: 'deprecated', by: 'maintainer', reason: 'better known', ...more },
      idOf(`event ${number} ${JSON.stringify(more)}`),
    );
  const named = (name: string) => file('intent.json', 'intent', { ...intentBody, summary: name }, idOf(name));
  await put(sample, 'refs/ai/intents/prices', [
    file('intent.json', 'intent', intentBody, threadId),
    event('000001', { status: 'deprecated', superseded_by: 'better' }),
  ]);
  // And back again: a circle.
  await put(sample, 'refs/ai/intents/better', [
    named('better'),
    event('000001', { supersedes: 'prices' }),
    event('000002', { status: 'deprecated', superseded_by: 'best' }),
  ]);
  await put(sample, 'refs/ai/intents/best', [named('best'), event('000001', { superseded_by: 'prices' })]);
  await put(sample, 'refs/ai/intents/other', [named('other')]);
  const graph = await graphOf(t, sample, threadId);
  t.strictSame(graph.nodes.map(({ label }) => label).toSorted(), ['Prices are exact', 'best', 'better']);
  t.equal(graph.edges.filter(({ kind }) => kind === 'superseded-by').length, 3);
  t.match(
    (await ask(sample, threadId)).out,
    /intent {4}better \[deprecated other-thread\] {2}in place of Prices/,
  );

  const { runId, files } = madeRun('beside');
  const beside = openExternalLocalStore(await openRepository(sample.root), { clock: systemClock });
  await beside.writeTree(`refs/ai/runs/${runId}`, {
    message: 'kept',
    keepExisting: false,
    files: filesOf(files),
  });
  const drawn = await graphOf(t, sample, threadId);
  t.match(drawn.nodes.find(({ id }) => id === runId)?.tags, ['commit']);
  t.ok(drawn.nodes.every(({ tags }) => !tags.includes('missing') && !tags.includes('damaged')));
});

t.test('a session without runs is a thread titled by its first message', async (t) => {
  const sample = sampleOf(t);
  const repository = await openRepository(sample.root);
  const means = { clock: systemClock, witness: userJournalWitness(sample.env) };
  const id = idOf('session');
  const opened = await openThread(threadDirectory(repository, id), id, means);
  await opened.append([
    { type: 'opened', ground: ground({ threadId: id }), atMs: 1 },
    { type: 'said', id: 'm1', text: 'Round\nprices', by: { kind: 'tui' }, atMs: 1 },
  ]);
  await opened[Symbol.asyncDispose]();
  const graph = await graphOf(t, sample, idOf('session').slice(0, 20));
  t.strictSame(graph, { thread_id: idOf('session'), title: 'Round prices', nodes: [], edges: [] });
  t.match((await ask(sample, idOf('session'))).out, 'nothing was planned or run in it yet');
  // The same beginning, one more thread.
  await put(sample, `refs/ai/runs/${idOf('pushed')}`, madeRun('pushed').files);
  t.match((await ask(sample, threadId.slice(0, 8), '--json')).out, /is the beginning of 2 thread ids/);
  t.equal((await ask(sample, threadId)).code, 0, 'a whole id is none but itself');
});

long('the graph of a long thread folds older runs and reports the truncation', async (t) => {
  const sample = sampleOf(t);
  const names = Array.from({ length: 6 }, (_, index) => `run ${index}`);
  for (const name of names) await put(sample, `refs/ai/runs/${idOf(name)}`, madeRun(name, 1200).files);
  const graph = await graphOf(t, sample, threadId);
  t.equal(graph.truncated, true);
  t.ok(graph.nodes.length <= 5000, `${graph.nodes.length}`);
  const runs = graph.nodes.filter(({ kind }) => kind === 'run');
  t.strictSame(
    runs.map(({ id }) => id),
    names.map(idOf).toSorted(),
  );
  t.strictSame(
    runs.map(({ tags }) => tags.includes('folded')),
    [true, true, false, false, false, false],
  );
  t.ok(runs.every(({ tags }) => tags.includes('commit')));
  t.match((await ask(sample, threadId)).out, 'this is not all of it');
});
