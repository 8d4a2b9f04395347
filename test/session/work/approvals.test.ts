import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import type { GivenAnswer } from '../../../session/state/interaction.ts';
import type { ApprovalPolicy } from '../../../session/state/settings.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

const runs = (command: string): ScriptedReply => ({ calls: [['shell', { command }]] });
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

/** An executed plan whose worker says these first. */
async function executed(policy: ApprovalPolicy, ...replies: readonly ScriptedReply[]) {
  const grants = keepGrants(systemClock);
  const scene = await scriptSession([submits(priceDraft), plans, ...replies, ...makesFix], {
    approval: { policy, ttlSeconds: 300, grants, mask: (text) => text },
  });
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const answerNext = async (given: GivenAnswer) => {
    const asked = await scene.asked('approval');
    await scene.answer(asked.id, given);
    return asked;
  };
  const tools = () =>
    scene.session.channel.state.toolCalls.map(({ status, summary = '' }) => [status, summary]);
  return { scene, grants, answerNext, tools };
}

long('a call that the policy does not allow runs only after the user approves it', async (t) => {
  const test = 'node --test --test-reporter=tap';
  const run = await executed('untrusted', runs(test), runs(test), runs('node --test'));
  await using scene = run.scene;
  const first = await run.answerNext({ selectedOption: 'approve_ttl' });
  t.match(first.metadata, { command: test, ttlSeconds: 300 });
  await until(() => run.grants.list().length > 0, 'what was approved for a while is listed');
  t.match(run.grants.list(), [{ kind: 'ttl' }]);
  const second = await run.answerNext({ selectedOption: 'deny' });
  t.match(second.metadata, { command: 'node --test' }, 'the same command again is not asked about');
  const third = await run.answerNext({ approved: true });
  t.match(third.metadata, { action: 'write' }, 'so is a file, by this policy');
  await run.answerNext({ approved: true });
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'completed', lastNote(scene.session));
  const asked = scene.model.asked.map(({ body }) => JSON.stringify(body));
  t.ok(asked.some((text) => text.includes('denied: the person did not approve it')));
});

t.test('each approval for a file shows the change of its own call', async (t) => {
  const text = (value: string) =>
    `*** Begin Patch\n*** Update File: src/price.js\n@@\n-  return count * cents + 1;\n+  return ${value};\n*** End Patch`;
  const twice: ScriptedReply = {
    calls: [
      ['apply_patch', { patch: text('steal(count)') }],
      ['apply_patch', { patch: text('count * cents') }],
      [
        'apply_patch',
        { patch: text(`'${'x'.repeat(1_100_000)}'`).replace('count * cents + 1', 'count * cents') },
      ],
    ],
  };
  const run = await executed('untrusted', twice);
  t.teardown(() => run.scene[Symbol.asyncDispose]());
  const first = await run.answerNext({ selectedOption: 'deny' });
  const { diff } = first.metadata.change as { readonly diff: string };
  t.match(diff, /- {2}return count \* cents \+ 1;\n\+ {2}return steal\(count\);/);
  t.notMatch(diff, /\+ {2}return count \* cents;/, 'a call that comes later stands for nothing else');
  const second = await run.answerNext({ approved: true });
  t.match(second.metadata.change, { changeType: 'modify', diff: /\+ {2}return count \* cents;/ });
  const third = await run.answerNext({ selectedOption: 'deny' });
  t.match(
    third.metadata.change,
    { note: /^11\d+ bytes are too many/ },
    'what is not shown is said to be there',
  );
});

long('a call outside the rules or the scope is denied without an approval question', async (t) => {
  const elsewhere = '*** Begin Patch\n*** Add File: docs/elsewhere.md\n+words\n*** End Patch';
  const run = await executed('untrusted', runs('curl https://example.org'), {
    calls: [['apply_patch', { patch: elsewhere }]],
  });
  await using scene = run.scene;
  const first = await run.answerNext({ approved: true });
  t.match(first.metadata, { action: 'write', subject: /src\/price\.js/ }, 'the first that is asked about');
  const second = await run.answerNext({ approved: true });
  t.match(second.metadata, { action: 'write', subject: /test\/price\.test\.js/ });
  await scene.ended();
  const { state } = scene.session.channel;
  t.equal(state.status, 'completed', lastNote(scene.session));
  t.equal(state.interactions.filter(({ kind }) => kind === 'approval').length, 2);
  const told = JSON.stringify(scene.model.asked.at(-1)?.body);
  t.match(told, /denied: `curl https:/, 'the model is told instead');
  t.match(run.tools().slice(0, 2), [
    ['failed', /curl.*denied/],
    ['failed', /docs\/elsewhere\.md.*denied/],
  ]);
});

const testFile = (path: string, body: string): ScriptedReply => {
  const lines = [`import { writeFileSync } from 'node:fs';`, `import test from 'node:test';`, body];
  const added = lines.map((line) => `+${line}`).join('\n');
  const patch = `*** Begin Patch\n*** Add File: ${path}\n${added}\n*** End Patch`;
  return { calls: [['apply_patch', { patch }]] };
};

long(
  'under `on-failure` only a command that the sandbox denied needs approval when it is retried',
  async (t) => {
    const [inside, outside] = ['node --test test/wrong.test.js', 'node --test test/outside.test.js'];
    const run = await executed(
      'on-failure',
      testFile('test/wrong.test.js', `test('x', () => { void writeFileSync; throw new Error('wrong'); });`),
      testFile('test/outside.test.js', `test('x', () => writeFileSync('/usr/x', ''));`),
      runs(inside),
      runs(inside),
      runs(outside),
      runs(outside),
    );
    await using scene = run.scene;
    const asked = await scene.asked('sandbox_approval');
    t.match(asked, {
      description: /the sandbox kept it from what it wanted, before: to write outside the workspace/,
      metadata: { command: outside, isOutsideSandbox: false },
    });
    const commands = run.tools().filter(([, summary = '']) => summary.includes('execute'));
    t.match(commands, [
      ['failed', /wrong\.test/],
      ['failed', /wrong\.test/],
      ['failed', /outside\.test/],
    ]);
    await scene.answer(asked.id, { selectedOption: 'abort' });
    await scene.ended();
  },
);

t.test(
  '`untrusted` refuses an answer that would allow all commands, and the question stays open',
  async (t) => {
    const run = await executed('untrusted', runs('node --test'));
    await using scene = run.scene;
    const asked = await scene.asked('approval');
    const all = { selectedOption: 'allow_all_commands' };
    const refusal = {
      code: 'INVALID_INTERACTION_RESPONSE',
      message: /contradicts the approval policy `untrusted`/,
    };
    for (const time of ['first', 'second']) await t.rejects(scene.answer(asked.id, all), refusal, time);
    const { interactions } = toSnapshot(scene.session.channel.state);
    const shown = interactions.find(({ id }) => id === asked.id);
    t.equal(shown?.status, 'pending');
    t.notOk(
      shown?.options.some(({ id }) => id === 'allow_all_commands'),
      'it is not offered',
    );
    t.strictSame(run.grants.list(), []);
    await scene.answer(asked.id, { selectedOption: 'abort' });
    await scene.ended();
  },
);

long('deny and stop ends the turn without a commit', async (t) => {
  const run = await executed('untrusted', runs('node --test'));
  await using scene = run.scene;
  const before = scene.sample.git('rev-parse', 'HEAD');
  await run.answerNext({ selectedOption: 'abort' });
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'idle');
  t.equal(scene.sample.git('rev-parse', 'HEAD'), before);
  t.strictSame(run.grants.list(), []);
});
