import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatModelChoice } from '../../../agent/instructions.ts';
import { coderWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { type Json, makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { type ScriptedReply, scriptModel } from '../scripted-model.ts';
import { priceFix } from './drafts.ts';

const spec: Json = {
  intent: {
    objectives: ['prices are exact', 'bench/price.js says so in its first line'],
    inScope: ['src/', 'test/', 'bench/'],
    touchHints: { files: [] },
  },
  execution: { retry: { maxRetries: 1, backoffSeconds: 0 } },
  security: {
    toolAcl: {
      allow: [
        { tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} },
        { tool: 'workspace.search', actions: ['search'], constraints: {} },
        { tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['node'] } },
      ],
    },
  },
};

const advice = [
  { key: 'task-1', steps: ['take the cent away'], writes: ['src/price.js', 'test/price.test.js'] },
  { key: 'task-2', steps: ['write the line'], writes: ['bench/price.js'], after: ['task-1'] },
];
const plans = (tasks: unknown): ScriptedReply => ({ calls: [['submit_plan_draft', { tasks }]] });
const done = ['submit_task_complete', { complete: true, summary: 'done' }] as const;
const patch = (text: string): ScriptedReply => ({ calls: [['apply_patch', { patch: text }], done] });
const note = '*** Begin Patch\n*** Add File: bench/price-note.js\n+// prices are exact\n*** End Patch';

/** A run with these replies: plan first, then the Tasks. */
async function work(
  t: { teardown(done: () => void): void },
  replies: readonly ScriptedReply[],
  sample = makeSample(),
) {
  t.teardown(() => sample.remove());
  await using model = await scriptModel(replies);
  const from = formatModelChoice({ provider: 'openai', model: 'scripted', apiBase: model.base, flags: {} });
  const source = { kind: 'worker', worker: coderWorker, from } as const;
  const view = await sample.run(
    { source, reach: reachProvider({ variable: () => undefined, keys: {} }) },
    spec,
  );
  const ref = `refs/ai/runs/${view.runId}`;
  const read = (path: string): unknown => JSON.parse(sample.git('show', `${ref}:${path}`));
  const asked = model.asked.map(({ body }) => JSON.stringify(body));
  return { sample, view, asked, read };
}

long('a model adds steps and order to the tasks of the spec', async (t) => {
  const { view, asked, read } = await work(t, [plans(advice), patch(priceFix), patch(note)]);
  t.match(view, { decision: { type: 'commit' } });
  const [first, second] = ['tasks/0001.json', 'tasks/0002.json'].map((path) => read(path));
  t.match(first, { steps: ['prices are exact', 'take the cent away'], depends_on: [] });
  t.match(second, { depends_on: [(first as { object_id: string }).object_id] });
  t.match(second, { predicted_writes: ['bench/price.js'] });
  t.match(read('plan-advice.json'), { taken: true, provider: 'openai', model: 'scripted', turns: 1 });
  t.ok(asked[1]?.includes('take the cent away'), 'whoever works is told');
});

t.test('local changes where only the plan of the model writes stop the run before the work', async (t) => {
  const sample = makeSample();
  writeFileSync(join(sample.root, 'src/price.js'), 'mine\n');
  // The script has no reply for a Task.
  await t.rejects(work(t, [plans(advice)], sample), {
    code: 'WORKTREE_DIRTY',
    detail: { found: ['src/price.js (modified)'] },
  });
});

long('plan advice outside the plan or scope is refused with a reason', async (t) => {
  const [one, two] = advice;
  for (const [tasks, fault] of [
    [[one], 'task-2'],
    [[one, one], 'found it 2 times'],
    [[{ ...one, after: ['task-2'] }, two], 'found a cycle'],
    [[{ ...one, writes: ['docs/x.md'] }, two], 'not in scope'],
    [[{ ...one, writes: ['../x'] }, two], 'no file of the repository'],
    [[{ ...one, steps: ['prices are exact'] }, two], 'is an objective'],
  ] as const) {
    const { view, asked, read } = await work(t, [
      plans(tasks),
      { text: 'No.' },
      { text: 'No.' },
      { text: 'No.' },
      { text: 'No.' },
      { calls: [['submit_task_complete', { complete: false, summary: 'no' }]] },
    ]);
    t.ok(asked[1]?.includes(fault), `${fault}: ${asked[1]?.slice(-2000)}`);
    t.match(view, { decision: { type: 'abandon' } });
    t.match(read('plan-advice.json'), { taken: false, reason: 'the model talks and submits nothing' });
  }
});

long('a failing check is passed to the next attempt', async (t) => {
  const wrong = priceFix.replace('+  return count * cents;', '+  return count * cents - 1;');
  const { view, asked } = await work(t, [plans(advice), patch(wrong), patch(priceFix), patch(note)]);
  t.match(view, { decision: { type: 'commit' }, retries: { count: 1 } });
  t.ok(asked[2]?.includes('two cost twice as much as one'), 'the name of the test');
  t.match(asked[2], /output of check unit[\s\S]*AssertionError/, 'the assertion is in the output alone');
  t.ok(asked[2]?.includes('The attempt before this one was not accepted'));
});
