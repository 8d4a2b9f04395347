import t from 'tap';
import { describeApproval } from '../../../session/approvals/describe-approval.ts';
import type { Asked } from '../../../session/screen/asked.ts';
import { textOf } from '../../../session/screen/line.ts';
import { questionBody } from '../../../session/screen/question-body.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { entryLines } from '../../../session/tui/entry-lines.ts';
import { transcriptText } from '../../../session/tui/show/earlier.ts';
import { makesFix, priceDraft, priceFix, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { toolUse } from '../approvals/use-of.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const second = '*** Begin Patch\n*** Add File: src/two.js\n+// two\n*** End Patch';
const ends: ScriptedReply = { calls: [['submit_task_complete', { complete: true, summary: 'done' }]] };

async function runs(scene: ScriptedSession) {
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  await scene.ended();
  const { state } = scene.session.channel;
  return { state, why: lastNote(scene.session), snapshot: toSnapshot(state) };
}

long('tool calls and replies of a plan with several tasks name their task on every screen', async (t) => {
  const draft = { ...priceDraft, objectives: [...priceDraft.objectives, 'write src/two.js'] };
  let turns = 0;
  await using scene = await scriptSession(({ body }) => {
    const said = JSON.stringify(body);
    turns += 1;
    if (turns === 1) return submits(draft);
    if (turns === 2)
      return {
        calls: [
          [
            'submit_plan_draft',
            { tasks: ['task-1', 'task-2'].map((key) => ({ key, steps: [`only ${key}`] })) },
          ],
        ],
      };
    const [name, patch] = said.includes('only task-2') ? ['two', second] : ['one', priceFix];
    if (said.includes(`I write ${name}.`)) return ends;
    return { text: `I write ${name}.`, calls: [['apply_patch', { patch }]] };
  });
  const { state, why, snapshot } = await runs(scene);
  t.equal(state.status, 'completed', why);
  const said = state.transcript.filter(({ kind }) => kind === 'assistant_message');
  t.strictSame(said.map(({ task, content }) => `${task}: ${content}`).sort(), [
    'task-1: I write one.',
    'task-2: I write two.',
  ]);
  const calls = state.toolCalls.filter(({ toolName }) => toolName === 'workspace.fs');
  t.strictSame([...new Set(calls.map(({ task }) => task))].sort(), ['task-1', 'task-2']);
  t.ok(calls.every(({ task, summary = '' }) => summary.includes('two.js') === (task === 'task-2')));
  const lines = snapshot.transcript.flatMap((entry) => entryLines(entry, 80)).map(textOf);
  t.ok(lines.includes('task-2:'), 'a reply stands below its task');
  t.ok(lines.some((line) => line.startsWith('✓ task-2 write src/two.js')));
  const text = transcriptText(snapshot);
  t.match(text, '## Model (task-2)\n\nI write two.');
  t.match(text, '- task-2: `write src/two.js`');
});

long('nothing names the task of a plan that has one', async (t) => {
  const plans = { calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['look'] }] }]] } as const;
  const [fix = {}, ...rest] = makesFix;
  const told = [submits(priceDraft), plans, { ...fix, text: 'I write.' }, ...rest];
  await using scene = await scriptSession(told);
  const { state, why } = await runs(scene);
  t.equal(state.status, 'completed', why);
  t.ok(state.toolCalls.length > 0 && state.transcript.some(({ content }) => content === 'I write.'));
  t.strictSame(
    [...state.toolCalls, ...state.transcript].filter(({ task }) => task !== undefined),
    [],
  );
});

t.test('another attempt is announced with what failed before', async (t) => {
  const plans = { calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['look'] }] }]] } as const;
  const wrong = priceFix.replace('+  return count * cents;', '+  return count * cents + 2;');
  const [, done = {}] = makesFix;
  await using scene = await scriptSession([
    submits(priceDraft),
    plans,
    { calls: [['apply_patch', { patch: wrong }]] },
    done,
    ...makesFix,
  ]);
  const { state, why, snapshot } = await runs(scene);
  t.equal(state.status, 'completed', why);
  const lines = snapshot.transcript.flatMap((entry) => entryLines(entry, 80)).map(textOf);
  t.strictSame(
    lines.filter((line) => line.includes('Attempt')),
    ['Attempt 2 of 4: check `unit` ended with exit code 1, expected 0'],
  );
});

t.test('an approval names the task that makes the call', async (t) => {
  const asked = (task?: string): string => {
    const request = { tool: 'workspace.fs', action: 'write', paths: ['a.js'], ...(task && { task }) };
    const question = describeApproval(toolUse(request), { why: 'so', ttlSeconds: 1, mask: (text) => text });
    return questionBody(question as unknown as Asked, () => [])
      .map(textOf)
      .join('\n');
  };
  t.match(asked('task-2'), '  for task-2 · in /w · branch main');
  t.match(asked(), '\n  in /w · branch main');
});
