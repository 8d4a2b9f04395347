import t from 'tap';
import { openSession } from '../../../session/open-session.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, scriptSession, settingOf } from './scripted-session.ts';

const local = { from: 'local' } as const;
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

long('a resumed session continues at its open question in another process', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel([submits(priceDraft), plans, ...makesFix]);
  let threadId: string | undefined;
  /** Opens the thread, does one thing, and closes it again. */
  const once = async <T>(
    act: (session: Awaited<ReturnType<typeof openSession>>) => Promise<T>,
  ): Promise<T> => {
    const setting = await settingOf(sample, model, threadId === undefined ? {} : { resume: threadId });
    await using _engine = setting.engine;
    await using session = await openSession(setting);
    ({ threadId } = session);
    return await act(session);
  };
  const settled = ({ channel }: Awaited<ReturnType<typeof openSession>>) =>
    until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);
  const answer = (selectedOption: string) => async (session: Awaited<ReturnType<typeof openSession>>) => {
    const [asked] = pendingOf(session.channel.state);
    await session.channel.send({
      type: 'respond',
      id: asked?.id ?? '',
      given: { selectedOption },
      proof: local,
    });
    await settled(session);
    return session.channel.state;
  };
  await once(async (session) => {
    await session.channel.send({
      type: 'submit',
      text: 'A price is one cent too high: make it exact.',
      proof: local,
    });
    await settled(session);
  });
  const reviewed = await once(answer('confirm'));
  t.match(pendingOf(reviewed), [{ kind: 'post_plan_choice' }]);
  const decided = await once(answer('execute'));
  t.equal(decided.status, 'completed');
  t.match(decided.transcript[0], { kind: 'user_message', content: /one cent too high/ });
  t.match(sample.git('log', '-1', '--format=%s'), /Prices are exact/);
});

t.test('resuming an unknown thread fails, with a hint if the id is that of a run', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const setting = await settingOf(sample, { base: 'http://127.0.0.1:9' }, { resume: '0199-none' });
  await using _engine = setting.engine;
  await t.rejects(openSession(setting), { code: 'THREAD_NOT_FOUND', detail: { thread_id: '0199-none' } });
  const run = '0198c1e2-0000-7000-8000-000000000000';
  sample.git('update-ref', `refs/ai/runs/${run}`, 'main');
  await t.rejects(openSession({ ...setting, resume: run }), {
    code: 'THREAD_NOT_FOUND',
    hints: [`this is the id of a run; continue it with \`writ resume ${run}\``],
  });
});

long('a cancelled turn ends, and its running command becomes unknown', async (t) => {
  const hangs =
    '*** Begin Patch\n*** Add File: test/hang.test.js\n+setInterval(() => {}, 1000);\n*** End Patch';
  await using scene = await scriptSession([
    submits(priceDraft),
    plans,
    { calls: [['apply_patch', { patch: hangs }]] },
    { calls: [['shell', { command: 'node --test' }]] },
    ...makesFix,
  ]);
  const { channel } = scene.session;
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const runs = () => channel.state.toolCalls.find(({ toolName }) => toolName === 'workspace.command');
  await until(() => runs()?.status === 'running');
  t.equal(channel.state.status, 'executing_tool');
  await channel.send({ type: 'cancel', proof: local });
  await scene.ended();
  t.equal(channel.state.status, 'idle', lastNote(scene.session));
  t.equal(runs()?.status, 'unknown');
  await scene.say('/ask What now?');
  await scene.ended();
});

t.test('a thread resumed with another model reports the reasoning that it drops', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptModel([{ text: 'Two.' }]);
  const first = await settingOf(sample, model);
  let threadId = '';
  {
    await using _engine = first.engine;
    await using session = await openSession(first);
    ({ threadId } = session);
  }
  const repository = await openRepository(sample.root);
  const { clock, witness } = first;
  {
    await using thread = await openThread(threadDirectory(repository, threadId), threadId, {
      clock,
      witness,
    });
    const state = { provider: 'anthropic', model: 'other', value: [{ type: 'thinking' }] };
    const exchanged = [
      { role: 'user', text: 'How many?' },
      { role: 'assistant', text: 'One.', calls: [], state },
    ] as const;
    await thread.append(exchanged.map((message) => ({ type: 'exchanged', message, atMs: clock.now() })));
  }
  const again = await settingOf(sample, model, { resume: threadId });
  await using _engine = again.engine;
  await using session = await openSession(again);
  await session.channel.send({ type: 'submit', text: '/ask And then?', proof: local });
  await until(() => session.channel.state.turn === undefined);
  t.match(lastNote(session), /reasoning of `other` of anthropic stays behind/);
  t.ok(JSON.stringify(model.asked[0]?.body).includes('How many?'), 'what was said comes along');
});
