import t from 'tap';
import { openSession } from '../../../session/open-session.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { makesFix, priceDraft, submits } from '../../coder/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../coder/scripted-model.ts';
import { makeSample } from '../../engine/run/sample.ts';
import { until } from '../../waiting/until.ts';
import { settingOf } from './scripted-session.ts';

const proof = { from: 'local' } as const;
const secret = 'sesame-open-1234';
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

t.test('a goal goes on in other processes, each answered by a person, and holds no secret', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const verified = ['criterion-1', 'criterion-2'].map((criterion) => ({ criterion, checks: ['unit'] }));
  await using model = await scriptModel([submits({ ...priceDraft, verified }), plans, ...makesFix]);
  let threadId: string | undefined;
  const once = async (act: (session: Awaited<ReturnType<typeof openSession>>) => Promise<void>) => {
    const setting = await settingOf(sample, model, threadId === undefined ? {} : { resume: threadId });
    const approval = { ...setting.approval, mask: (text: string) => text.replaceAll(secret, '[masked]') };
    await using _engine = setting.engine;
    await using session = await openSession({ ...setting, approval });
    ({ threadId } = session);
    await act(session);
    const { channel } = session;
    await until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);
    return channel.state;
  };
  const answer = (selectedOption: string) =>
    once(async ({ channel }) => {
      const id = pendingOf(channel.state)[0]?.id ?? '';
      await channel.send({ type: 'respond', id, given: { selectedOption }, proof });
    });
  const objective = `A price is one cent too high, says ${secret}`;
  const criteria = [`two cost twice as much as ${secret}`];
  const begun = await once(
    async ({ channel }) => void (await channel.send({ type: 'goal-start', objective, criteria, proof })),
  );
  t.match(begun.goal, { status: 'active', criteria: [{ checks: ['unit'] }, { checks: ['unit'] }] });
  t.notOk(
    JSON.stringify([begun.goal, begun.transcript, model.asked.map(({ body }) => body)]).includes(secret),
  );
  t.match((await answer('confirm')).goal, { status: 'active', id: begun.goal?.id });
  t.match((await answer('cancel')).goal, { status: 'blocked', blockReason: 'declined' });
  const again = await once(
    async ({ channel }) => void (await channel.send({ type: 'submit', text: '/goal start', proof })),
  );
  t.match(pendingOf(again), [{ kind: 'post_plan_choice' }]);
  const ended = await answer('execute');
  t.match(ended.goal, { id: begun.goal?.id, status: 'achieved', loops: 1 });
  t.match(sample.git('log', '-1', '--format=%s'), /Prices are exact/);
});
