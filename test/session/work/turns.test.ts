import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { pendingOf } from '../../../session/state/state.ts';
import { call } from '../../agent/planner/ask-writ.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

const plans = (...steps: readonly string[]): ScriptedReply => ({
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps }] }]],
});

t.test(
  'a model answers a question from the repository, and the next question includes that dialogue',
  async (t) => {
    await using scene = await scriptSession([
      { calls: [['read_file', { path: 'src/price.js' }]] },
      { text: 'It adds a cent.' },
      { text: 'In line two.' },
    ]);
    const { session, model } = scene;
    await scene.say('/ask What does price do?');
    await scene.ended();
    t.equal(session.channel.state.status, 'idle', lastNote(session));
    await scene.say('/ask Where?');
    await scene.ended();
    t.match(
      session.channel.state.transcript.map(({ kind, content, status }) => [kind, content, status]),
      [
        ['user_message', '/ask What does price do?', undefined],
        ['tool_call', 'read src/price.js', 'completed'],
        ['assistant_message', 'It adds a cent.', undefined],
        ['user_message', '/ask Where?', undefined],
        ['assistant_message', 'In line two.', undefined],
      ],
    );
    t.ok(JSON.stringify(model.asked.at(-1)?.body).includes('It adds a cent.'));
    const log = join(scene.sample.root, '.git', 'writ', 'threads', session.threadId, 'audit-1.jsonl');
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    t.match(
      lines.map((line) => JSON.parse(line).redacted_summary),
      [/: \/ask What does price do\?$/, /: \/ask Where\?$/],
      'both stand in the audit log',
    );
  },
);

t.test('words are answered, a question back too, and what the user then wants is drafted', async (t) => {
  await using scene = await scriptSession([
    { text: 'Hello.' },
    { calls: [['read_file', { path: 'src/price.js' }]] },
    { text: 'Exact to the cent, or rounded?' },
    submits(priceDraft),
  ]);
  const { session, sample, model } = scene;
  const before = sample.state();
  await scene.say('hi');
  await scene.ended();
  t.equal(session.channel.state.status, 'idle', lastNote(session));
  await scene.say('The price is wrong.');
  await scene.ended();
  await scene.say('Exact.');
  t.match(await scene.asked('intent_review_choice'), { title: 'Prices are exact' });
  t.match(
    session.channel.state.transcript.map(({ kind, content }) => [kind, content]),
    [
      ['user_message', 'hi'],
      ['assistant_message', 'Hello.'],
      ['user_message', 'The price is wrong.'],
      ['tool_call', 'read src/price.js'],
      ['assistant_message', 'Exact to the cent, or rounded?'],
      ['user_message', 'Exact.'],
    ],
  );
  const last = JSON.stringify(model.asked.at(-1)?.body);
  t.ok(last.includes('The price is wrong.') && last.includes('or rounded?'), 'with all that was said before');
  t.equal(sample.state(), before);
});

t.test('`/draft` turns what was answered into a draft, and reminds the model of it', async (t) => {
  await using scene = await scriptSession([
    { text: 'One cent is added.' },
    { text: 'I would take the cent away.' },
    submits(priceDraft),
  ]);
  const { model } = scene;
  await t.rejects(scene.say('/draft'), { code: 'UNSUPPORTED_OPERATION' }, 'nothing was said before');
  await scene.say('Is the price right?');
  await scene.ended();
  await scene.say('/draft');
  t.match(await scene.asked('intent_review_choice'), { title: 'Prices are exact' });
  const last = JSON.stringify(model.asked.at(-1)?.body);
  t.ok(last.includes('When the draft is complete, call submit_intent_draft.'));
  t.match(last.match(/Is the price right\?/g)?.length, 2, 'said, and asked to be drafted');
});

t.test('a remark on a draft that is answered in words leaves the draft as it was', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), { text: 'Because of the test.' }]);
  await scene.say('A price is one cent too high: make it exact.');
  const review = await scene.asked('intent_review_choice');
  await scene.answer(review.id, { selectedOption: 'modify', note: 'Why is test/ in the scope?' });
  await until(() => pendingOf(scene.session.channel.state).some(({ id }) => id !== review.id));
  const again = await scene.asked('intent_review_choice');
  t.strictSame([again.subject, again.metadata], [review.subject, review.metadata]);
  const said = scene.session.channel.state.transcript.findLast(({ kind }) => kind === 'assistant_message');
  t.equal(said?.content, 'Because of the test.');
});

t.test('a goal that is only talked about is blocked with the words of the model', async (t) => {
  await using scene = await scriptSession(() => ({ text: 'I am a model.' }));
  const { session } = scene;
  await scene.say('/goal start Who are you?');
  await scene.ended();
  const [failed = ''] = lastNote(session).split('\n');
  t.equal(
    failed,
    'DRAFT_REFUSED: no spec was drafted: the model talks and submits nothing; it says: “I am a model.”',
  );
  const goal = session.channel.state.transcript.find(({ title }) => title === 'Goal')?.content ?? '';
  t.match(goal, /^blocked \(draft_refused\): `\/goal start` goes on/);
  t.notMatch(goal, /submits nothing/, 'why is told once');
});

t.test(
  'a request is drafted, planned, executed and committed, each after the answer of the user',
  async (t) => {
    const notes: ScriptedReply = {
      calls: [['update_plan', { steps: 'completed look\nin_progress take the cent away\npending test it' }]],
    };
    const told = [submits(priceDraft), plans('take the cent away'), notes, ...makesFix];
    await using scene = await scriptSession(told);
    const { session, sample, model } = scene;
    const before = sample.state();
    await scene.say('A price is one cent too high: make it exact.');
    const review = await scene.asked('intent_review_choice');
    t.match(review, { title: 'Prices are exact', metadata: { revision: 1, riskLevel: 'low' } });
    await scene.answer(review.id, { selectedOption: 'confirm' });
    const choice = await scene.asked('post_plan_choice');
    t.match(choice, { metadata: { networkAccess: 'deny', lines: ['task-1.1', 'task-1.2', 'gate-fast'] } });
    t.equal(sample.state(), before, 'nothing was moved');
    const line = 'task-1.2';
    await scene.answer(choice.id, { selectedOption: 'execute', answers: { [line]: ['only that cent'] } });
    await scene.ended();
    const { state } = session.channel;
    t.equal(state.status, 'completed', lastNote(session));
    t.match(state.plans[0], { status: 'completed', run: { revision: 1 } });
    const own = state.plans.find(({ title }) => title === 'Steps of the model');
    t.strictSame(
      own?.steps.map(({ step, status }) => [step, status]),
      [
        ['look', 'completed'],
        ['take the cent away', 'in_progress'],
        ['test it', 'pending'],
      ],
      'what the model says of its plan stands among the plans',
    );
    t.equal(own?.status, 'completed', 'as far as the plan that it worked on');
    t.match(state.tasks, [{ status: 'completed' }, { status: 'completed' }]);
    t.match(state.patchsets.at(-1), { status: 'accepted', changes: [{ path: 'src/price.js' }, {}] });
    const asked = model.asked.map(({ body }) => JSON.stringify(body));
    t.ok(asked[2]?.includes('only that cent'), 'what was noted on a line reaches whoever does it');
    t.match(sample.git('log', '-1', '--format=%s'), /Prices are exact/);
    t.match(
      state.toolCalls.map(({ toolName, status }) => [toolName, status]),
      [['workspace.fs', 'completed']],
    );
    const diff = state.patchsets[0]?.changes[1]?.diff?.split('\n') ?? [];
    const at = 'test/price.test.js';
    t.strictSame(diff.slice(0, 3), [`--- a/${at}`, `+++ b/${at}`, '@@']);
    t.strictSame(diff.slice(3, 6), ['   assert.ok(price(0, 100) < 2);', ' });', '+']);
    const shown = state.transcript.find(({ kind }) => kind === 'diff');
    t.match(shown, {
      title: '2 files changed',
      status: 'accepted',
      metadata: { patchset: /^[0-9a-f]{64}$/ },
    });
    t.match(shown?.content, /\n- {2}return count \* cents \+ 1;\n\+ {2}return count \* cents;\n/);
    const drawn = await call(sample, ['graph', session.threadId]);
    const kinds = drawn.data.nodes.map(({ kind }: { kind: string }) => kind);
    for (const kind of ['intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'])
      t.ok(kinds.includes(kind), `the graph of the thread shows its ${kind}`);
    t.match(drawn.data, { thread_id: session.threadId, title: /one cent too high/ });
  },
);
