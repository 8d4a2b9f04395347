import t from 'tap';
import { openSession } from '../../../session/open-session.ts';
import type { Happened } from '../../../session/state/fact.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { pricedSample } from './priced-sample.ts';
import { lastNote, scriptSession, settingOf } from './scripted-session.ts';

const local = { from: 'local' } as const;
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

long('the usage of every reply is counted as it ends, for draft, plan and work', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans, ...makesFix]);
  const { session } = scene;
  const facts: Happened[] = [];
  session.channel.subscribe((_state, told) => void facts.push(...told));
  const usage = () => toSnapshot(session.channel.state).usage;
  t.equal(usage(), undefined, 'nothing is said where nothing was asked');
  await scene.say('A price is one cent too high: make it exact.');
  const review = await scene.asked('intent_review_choice');
  const once = { inputTokens: 100, outputTokens: 50, unpriced: true };
  t.strictSame(
    usage(),
    { ...once, contextTokens: 150, turn: once },
    'a model that nobody knows has no price',
  );
  await scene.answer(review.id, { selectedOption: 'confirm' });
  const choice = await scene.asked('post_plan_choice');
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await scene.ended();
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  const { estimates = [] } = choice.metadata as {
    readonly estimates?: readonly { readonly tokens: number }[];
  };
  t.match(estimates, [{ line: 'task-1.1' }], 'a Task has one estimate, at its first line');
  t.match(choice.metadata, { estimatedFrom: 0 }, 'nothing was worked yet: they are assumed');
  t.match(choice.metadata, { estimated: { tokens: estimates[0]?.tokens } });
  t.ok((estimates[0]?.tokens ?? 0) > 10_000);
  const actual = [{ line: 'task-1.1', tokens: 300 }];
  t.strictSame(toSnapshot(session.channel.state).plans[0]?.actuals, actual, 'and beside it what it came to');
  const all = { inputTokens: 400, outputTokens: 200, unpriced: true };
  t.strictSame(usage(), { ...all, contextTokens: 150, turn: all });
  const used = facts.flatMap((fact) => (fact.type === 'used' ? [fact] : []));
  t.match(
    used.map(({ plan, task }) => [plan, task]),
    [
      [undefined, undefined],
      [undefined, undefined],
      [/\/1$/, 'task-1'],
      [/\/1$/, 'task-1'],
    ],
    'one for each reply, and those of the work say for which task',
  );
  const ofWork = facts.indexOf(used[2] as Happened);
  const decided = facts.findIndex(({ type }) => type === 'turn-ended');
  t.ok(ofWork < facts.findIndex((fact) => fact.type === 'tool' && fact.status === 'running'));
  t.ok(ofWork < decided, 'it is told while the run works');
});

t.test('the usage of a thread adds up over turns and processes', async (t) => {
  const sample = pricedSample(1);
  t.teardown(() => sample.remove());
  await using model = await scriptModel([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  let threadId: string | undefined;
  const ask = async (words: string) => {
    const setting = await settingOf(sample, model, threadId === undefined ? {} : { resume: threadId });
    await using _engine = setting.engine;
    await using session = await openSession(setting);
    ({ threadId } = session);
    await session.channel.send({ type: 'submit', text: `/ask ${words}`, proof: local });
    await until(() => session.channel.state.turn === undefined);
    return toSnapshot(session.channel.state).usage;
  };
  const once = { inputTokens: 100, outputTokens: 50, costUsd: 0.0002 };
  const context = { contextTokens: 150, contextWindow: 10_000 };
  t.strictSame(await ask('First?'), { ...once, ...context, turn: once });
  t.strictSame(await ask('Second?'), {
    inputTokens: 200,
    outputTokens: 100,
    costUsd: 0.0004,
    ...context,
    turn: once,
  });
});

long('a session stops before the model call that would exceed its budget', async (t) => {
  const sample = pricedSample(100);
  await using scene = await scriptSession([submits(priceDraft), plans, { text: 'So it is.' }], {}, sample);
  const { session, model } = scene;
  const state = () => session.channel.state;
  await scene.say('/budget 0.5');
  await scene.say('A price is one cent too high: make it exact.');
  const review = await scene.asked('intent_review_choice');
  await scene.answer(review.id, { selectedOption: 'confirm' });
  const choice = await scene.asked('post_plan_choice');
  const short = /^the budget is short: .* estimated to cost \d\.\d{4} USD, and 0\.4600 of 0\.5 USD are left/;
  t.match(choice.metadata.notices, [short], 'it is said before anybody consents');
  await scene.say('/budget 99');
  t.notMatch(lastNote(session), /short/);
  await scene.say('/budget 0.0401');
  t.match(lastNote(session), /0\.0401 USD\nthe budget is short/);
  t.match(toSnapshot(state()), {
    status: 'awaiting_interaction',
    usage: { costUsd: 0.04, limitUsd: 0.0401 },
  });
  const before = sample.state();
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await scene.ended();
  t.equal(state().status, 'error');
  t.match(
    lastNote(session),
    /^SESSION_BUDGET_SPENT: the session has cost 0\.0400 of 0\.0401 USD.*\n- raise the budget/s,
  );
  t.match(lastNote(session), /the run is kept: `writ resume /);
  t.equal(model.asked.length, 2, 'nobody was asked');
  t.equal(sample.state(), before, 'and nothing was moved');
  await scene.say('/ask And now?');
  await scene.ended();
  t.equal(state().status, 'error', 'a question is one, too');
  t.equal(model.asked.length, 2);
  await scene.say('/budget $5');
  await scene.say('/ask And now?');
  await scene.ended();
  t.equal(state().status, 'idle', lastNote(session));
  t.match(toSnapshot(state()).usage, { costUsd: 0.06, limitUsd: 5 });
  await scene.say('/budget off');
  t.equal(toSnapshot(state()).usage?.limitUsd, undefined);
});

t.test('a budget is refused at the latest at the model call if the model has no known price', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel([{ text: 'One.' }]);
  const opened = async (more: object) => {
    const setting = await settingOf(sample, model);
    return { ...setting, ground: { ...setting.ground, ...more } };
  };
  const unknown = await opened({ limitUsd: 1, isPriced: false });
  await using _first = unknown.engine;
  await t.rejects(openSession(unknown), { code: 'SESSION_BUDGET_UNPRICED' });
  const late = await opened({ limitUsd: 1 });
  await using _second = late.engine;
  await using session = await openSession(late);
  await session.channel.send({ type: 'submit', text: '/ask Well?', proof: local });
  await until(() => session.channel.state.turn === undefined);
  t.match(lastNote(session), /^SESSION_BUDGET_UNPRICED: the price of `scripted` is unknown/);
  t.equal(model.asked.length, 0);
});
