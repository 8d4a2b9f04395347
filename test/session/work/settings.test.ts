import t from 'tap';
import { openSession } from '../../../session/open-session.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { priceDraft, submits } from '../../agent/planner/drafts.ts';
import { scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, scriptSession, settingOf } from './scripted-session.ts';

const local = { from: 'local' } as const;
const plans = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
} as const;

t.test('a change of model or context applies from the next turn', async (t) => {
  await using scene = await scriptSession([{ text: 'One.' }, { text: 'Two.' }]);
  const { session, model } = scene;
  await scene.say('/ask How many?');
  await scene.ended();
  await scene.say('/model org/other:8b');
  await scene.say('/context code-review');
  t.equal(model.asked.length, 1, 'nobody is asked about that');
  await scene.say('How many now?');
  await scene.ended();
  t.equal(session.channel.state.status, 'idle', lastNote(session));
  t.match(
    model.asked.map(({ body }) => (body as { readonly model: string }).model),
    ['scripted', 'org/other:8b'],
  );
  const [first, second] = model.asked.map(({ body }) => JSON.stringify(body));
  t.match([first, second], [/for dev\./, /for review\./]);
  t.strictSame(session.channel.state.interactions, [], 'what only reads plans nothing');
});

long(
  'plans use the network setting, and `allow` is refused where a command could approve itself',
  async (t) => {
    await using scene = await scriptSession([submits(priceDraft), plans]);
    await scene.say('/network allow');
    await scene.say('A price is one cent too high: make it exact.');
    await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
    const choice = await scene.asked('post_plan_choice');
    t.equal(choice.metadata.networkAccess, 'allow');

    const reached = { result: async () => ({ isTried: true, reached: ['port 3000'] }) };
    await using unsafe = await scriptSession([submits(priceDraft), plans], { selfTest: reached });
    await t.rejects(unsafe.say('/network allow'), { code: 'SELF_APPROVAL_POSSIBLE' });
    t.strictSame(unsafe.session.channel.state.transcript, []);
    await unsafe.say('A price is one cent too high: make it exact.');
    await unsafe.answer((await unsafe.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
    const asked = await unsafe.asked('post_plan_choice');
    await t.rejects(unsafe.answer(asked.id, { selectedOption: 'network' }), {
      code: 'SELF_APPROVAL_POSSIBLE',
    });
    t.match(await unsafe.asked('post_plan_choice'), { id: asked.id, metadata: { networkAccess: 'deny' } });
  },
);

t.test('settings are kept when the thread is resumed', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel([{ text: 'Two.' }]);
  const first = await settingOf(sample, model);
  let threadId = '';
  {
    await using _engine = first.engine;
    await using session = await openSession(first);
    ({ threadId } = session);
    for (const text of ['/network allow', '/model other', '/context explore'])
      await session.channel.send({ type: 'submit', text, proof: local });
  }
  const again = await settingOf(sample, model, { resume: threadId });
  await using _engine = again.engine;
  await using session = await openSession(again);
  const { channel } = session;
  t.strictSame(toSnapshot(channel.state).settings, {
    context: 'research',
    networkAccess: 'deny',
    model: 'other',
  });
  await channel.send({ type: 'submit', text: 'And then?', proof: local });
  await until(() => channel.state.turn === undefined);
  t.match(model.asked, [{ body: { model: 'other' } }], 'a plain request is answered, by that model');
});
