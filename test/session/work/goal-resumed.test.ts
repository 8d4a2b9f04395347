import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openSession } from '../../../session/open-session.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { readThread } from '../../../session/thread/read-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';
import { alterEvidence } from './alter-evidence.ts';
import { settingOf } from './scripted-session.ts';

const proof = { from: 'local' } as const;
const secret = 'sesame-open-1234';
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

long('a goal continues over several processes and stores no secret', async (t) => {
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

long('a run of a killed process has only the rest of the budget of its goal', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const verified = [{ criterion: 'criterion-1', checks: ['unit'] }];
  const looks: ScriptedReply = { calls: [['read_file', { path: 'src/price.js' }]] };
  const tests: ScriptedReply = { calls: [['shell', { command: 'node --test' }]] };
  // Each reply is 150 tokens: a draft, a plan, and then two more.
  await using model = await scriptModel([
    submits({ ...priceDraft, verified }),
    plans,
    tests,
    looks,
    ...makesFix,
  ]);
  const grants = keepGrants(systemClock);
  const more = {
    ground: ground({ goalBudget: { tokens: 300, costUsd: 1, workMs: 600_000 } }),
    approval: { policy: 'untrusted', ttlSeconds: 300, grants, mask: (text: string) => text },
  } as const;
  const setting = await settingOf(sample, model, more);
  const repository = await openRepository(sample.root);
  const placeOf = (id: string) => threadDirectory(repository, id);
  const left = await (async () => {
    await using _engine = setting.engine;
    await using session = await openSession(setting);
    const { channel, threadId } = session;
    const answered = async (kind: string, selectedOption: string) => {
      const asked = () => pendingOf(channel.state).find((one) => one.kind === kind);
      await until(() => asked() !== undefined);
      await channel.send({ type: 'respond', id: asked()?.id ?? '', given: { selectedOption }, proof });
    };
    await channel.send({ type: 'goal-start', objective: 'make it exact', criteria: [], proof });
    await answered('intent_review_choice', 'confirm');
    await answered('post_plan_choice', 'execute');
    await until(() => pendingOf(channel.state).some(({ kind }) => kind === 'approval'));
    return (await readThread(placeOf(threadId), threadId, setting.witness)).proven?.facts ?? [];
  })();
  // What a kill leaves: nobody wrote down how it ended.
  const resume = '0199f0c2-0000-7000-8000-000000000000';
  {
    await using thread = await openThread(placeOf(resume), resume, setting);
    await thread.append(left);
  }
  const again = await settingOf(sample, model, { ...more, resume });
  await using _engine = again.engine;
  await using session = await openSession(again);
  const { channel } = session;
  t.match(channel.state.goal, { status: 'blocked', blockReason: 'interrupted' });
  const [call] = pendingOf(channel.state);
  await channel.send({ type: 'respond', id: call?.id ?? '', given: { selectedOption: 'deny' }, proof });
  await until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);
  t.match(pendingOf(channel.state), [{ kind: 'post_plan_choice' }]);
  t.match(channel.state.goal, { status: 'blocked', blockReason: 'budget_tokens', loops: 0 });
  t.equal(model.asked.length, 4, 'no question follows');
});

long('a goal is achieved only by a run whose evidence is intact', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const verified = [{ criterion: 'criterion-1', checks: ['unit'] }];
  await using model = await scriptModel([submits({ ...priceDraft, verified }), plans, ...makesFix]);
  const repository = await openRepository(sample.root);
  const placeOf = (id: string) => threadDirectory(repository, id);
  /** One session; answers whatever is asked, up to the end of its turn. */
  const pursue = async (resume: string | undefined, text: string) => {
    const setting = await settingOf(sample, model, resume === undefined ? {} : { resume });
    await using _engine = setting.engine;
    await using session = await openSession(setting);
    const { channel, threadId } = session;
    await channel.send({ type: 'submit', text, proof });
    for (;;) {
      await until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);
      const [asked] = pendingOf(channel.state);
      if (asked === undefined) break;
      const selectedOption = asked.kind === 'intent_review_choice' ? 'confirm' : 'execute';
      await channel.send({ type: 'respond', id: asked.id, given: { selectedOption }, proof });
    }
    const read = await readThread(placeOf(threadId), threadId, setting.witness);
    return { goal: channel.state.goal, facts: read.proven?.facts ?? [], setting };
  };
  const { goal, facts, setting } = await pursue(undefined, '/goal start make it exact');
  t.match(goal, { status: 'achieved' });
  // A kill between the commit and the word of it.
  const last = facts.findIndex((one) => one.type === 'goal-moved' && one.change.status === 'achieved');
  const resume = '0199f0c2-0000-7000-8000-000000000001';
  {
    await using thread = await openThread(placeOf(resume), resume, setting);
    await thread.append(facts.slice(0, last));
  }
  const undo = alterEvidence(sample, goal?.run ?? '', 'gate-report.json');
  const doubted = await pursue(resume, '/goal start');
  t.match(doubted.goal, { status: 'blocked', blockReason: 'failed', loops: 0 });
  undo();
  const again = await pursue(resume, '/goal start');
  t.match(again.goal, { status: 'achieved', loops: 1, run: goal?.run });
});
