import { methods } from '@agentclientprotocol/sdk';
import t from 'tap';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { openEditor } from './open-editor.ts';

const plan: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

t.test('an editor gets an answer in pieces, and the thread of the session', async (t) => {
  const { hello, begin, prompt, said, sample, updates, agent, out } = await openEditor(t, [
    { text: 'It adds a cent.' },
  ]);
  t.match(hello, {
    protocolVersion: 1,
    agentInfo: { name: 'writ' },
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
    authMethods: [],
  });
  const id = await begin();
  t.equal(await prompt(id, 'What does price() do?'), 'end_turn');
  t.equal(said(), 'It adds a cent.');
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: sample.root });
  t.match(sessions, [{ sessionId: id, title: 'What does price() do?' }]);
  const commands = updates.find((one) => one.sessionUpdate === 'available_commands_update');
  t.match(commands, { availableCommands: [{ name: 'ask', input: { hint: 'TEXT' } }] });
  for (const line of out().trim().split('\n')) t.match(JSON.parse(line), { jsonrpc: '2.0' });
});

t.test('a change is drafted, confirmed, executed and sealed as a commit', async (t) => {
  const { begin, prompt, said, asked, sample, updates, err } = await openEditor(
    t,
    [submits(priceDraft), plan, ...makesFix],
    {
      chooses: ({ options }) =>
        options.find(({ name }) => ['Confirm', 'Execute plan', 'Approve'].includes(name))?.name,
    },
  );
  const before = sample.git('rev-parse', 'main').trim();
  const id = await begin();
  t.equal(await prompt(id, 'Make prices exact.'), 'end_turn', err());
  const words = said();
  const commit = sample.git('rev-parse', 'main').trim();
  t.not(commit, before, words);
  t.match(words, /\*\*Committed\*\*: .*\n- commit `[0-9a-f]{40}`\n- `writ verify /);
  t.match(words, commit);
  t.match(
    asked.map(({ options }) => options.map(({ name, kind }) => [name, kind])),
    [
      [
        ['Confirm', 'allow_once'],
        ['Cancel', 'reject_once'],
        ['Modify', 'reject_once'],
      ],
      [
        ['Execute plan', 'allow_once'],
        ['Cancel', 'reject_once'],
        ['Network: deny → allow', 'reject_once'],
        ['Modify plan', 'reject_once'],
      ],
    ],
  );
  t.match(JSON.stringify(asked[0]), /Spec: .*may write/);
  t.match(JSON.stringify(asked[1]), /take the cent away.*What this plan may do/);
  const diff = updates.findLast((one) => 'title' in one && / files? changed$/.test(one.title ?? ''));
  t.match(diff, {
    kind: 'edit',
    status: 'completed',
    content: [{ type: 'diff' }],
    locations: [{ path: `${sample.root}/src/price.js` }, { path: `${sample.root}/test/price.test.js` }],
  });
  t.match(JSON.stringify(diff), /"oldText":".*\+ 1.*"newText"/);
  const plans = updates.filter((one) => one.sessionUpdate === 'plan');
  t.match(JSON.stringify(plans.at(-1)), /take the cent away.{0,40}completed/);
});
