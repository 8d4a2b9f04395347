import t from 'tap';
import { formatModelChoice } from '../../coder/model-choice.ts';
import { coderWorker } from '../../coder/plugin.ts';
import { makeSample } from '../engine/run/sample.ts';
import type { ModelServer } from '../providers/model-server.ts';
import { scriptModel } from './scripted-model.ts';

/** What lets a model work on the sample: files of its scope, and the tests. */
const security = {
  toolAcl: {
    allow: [
      { tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} },
      { tool: 'workspace.search', actions: ['search'], constraints: {} },
      {
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: { allowCommands: ['node', 'echo', 'cat'] },
      },
    ],
  },
};

const source = ({ base }: ModelServer) =>
  ({
    kind: 'worker',
    worker: coderWorker,
    from: formatModelChoice({ provider: 'openai', model: 'scripted', apiBase: base, flags: {} }),
  }) as const;

const fix = `*** Begin Patch
*** Update File: src/price.js
@@
-  return count * cents + 1;
+  return count * cents;
*** Update File: test/price.test.js
@@
   assert.ok(price(0, 100) < 2);
 });
+
+test('two cost twice as much as one', () => {
+  assert.equal(price(2, 100), 200);
+});
*** End Patch`;
const done = ['submit_task_complete', { complete: true, summary: 'exact' }] as const;

t.test('a model reads, changes, tests and ends; what it changed is judged and sealed', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel([
    {
      text: 'I look.',
      calls: [
        ['read_file', { path: 'src/price.js' }],
        ['list_dir', { path: '.' }],
      ],
    },
    { calls: [['grep_files', { pattern: 'cents \\+ 1', path: 'src' }]] },
    { calls: [['apply_patch', { patch: fix }]] },
    { calls: [['shell', { command: 'node --test' }]] },
    { calls: [done] },
  ]);
  const view = await sample.run({ source: source(model) }, { security });
  t.match(view, { decision: { type: 'commit' } });
  t.equal(sample.git('show', 'HEAD:src/price.js').includes('count * cents;'), true);
  const told = model.asked.map(({ body }) => body as { messages: { role: string; content: string }[] });
  const last = told.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
  t.match(last[0]?.content, /2\texport function price/);
  t.match(last[1]?.content, 'src/');
  t.notMatch(last[1]?.content, '.git');
  t.match(last[2]?.content, 'price.js:3:');
  t.match(last[4]?.content, /pass 2/);
});
