import t from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import type { GoalAmounts } from '../../../session/state/goal.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import type { Asked } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const objective = 'A price is one cent too high: make it exact.';
const heldDraft = { ...priceDraft, verified: [{ criterion: 'criterion-1', checks: ['unit'] }] };
const plans = (...steps: readonly string[]): ScriptedReply => ({
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps }] }]],
});
const looks: ScriptedReply = { calls: [['read_file', { path: 'src/price.js' }]] };
const cannot: ScriptedReply = {
  calls: [['submit_task_complete', { complete: false, summary: 'the file puzzles me' }]],
};
/** Attempts of a run wait for one another; nobody here has that time. */
const hasty: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 120_000 ? ms : Math.min(ms, 5), signal),
};
const granting = (more: Partial<GoalAmounts>) =>
  ground({ goalBudget: { tokens: 100_000, costUsd: 1, workMs: 600_000, ...more } });

const goalOf = ({ session: { channel } }: ScriptedSession) => channel.state.goal;
/** Until its turn is over, or waits for somebody. */
const rested = ({ session: { channel } }: ScriptedSession) =>
  until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);

async function executed(scene: ScriptedSession): Promise<void> {
  await scene.say(`/goal start ${objective}`);
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
}

long('a spent token budget stops a run before the next model call until the user continues it', async (t) => {
  // Each reply is 150 tokens: a draft, a plan, and then two more.
  const script = [submits(heldDraft), plans('take the cent away'), looks, looks, ...makesFix];
  await using scene = await scriptSession(script, { ground: granting({ tokens: 300 }) });
  const { channel } = scene.session;
  await executed(scene);
  await rested(scene);
  t.match(
    goalOf(scene),
    { status: 'blocked', blockReason: 'budget_tokens', loops: 0 },
    lastNote(scene.session),
  );
  t.equal(scene.model.asked.length, 4, 'no question follows');
  t.strictSame(
    channel.state.tasks.map(({ status, details }) => [status, details]),
    [
      ['pending', 'was stopped'],
      ['pending', undefined],
    ],
    'nothing is at work',
  );
  const [stopped] = pendingOf(channel.state);
  t.match(stopped?.metadata, {
    stopped: 'budget_tokens',
    goal: { budget: { tokens: { used: 600, limit: 600 } } },
    grants: { tokens: 300 },
  });
  const run = goalOf(scene)?.run;
  await scene.say('/plan continue');
  await rested(scene);
  t.match(goalOf(scene), { status: 'achieved', loops: 1, run }, lastNote(scene.session));
  const { budget } = goalOf(scene) ?? {};
  t.match(budget, { limit: { tokens: 900 }, used: { tokens: 900 } }, 'what was used stays told');
});

long('a spent time budget stops the running command, which becomes unknown', async (t) => {
  const hangs =
    '*** Begin Patch\n*** Add File: test/hang.test.js\n+setInterval(() => {}, 1000);\n*** End Patch';
  const script = [
    submits(heldDraft),
    plans('hang'),
    { calls: [['apply_patch', { patch: hangs }]] },
    { calls: [['shell', { command: 'node --test' }]] },
  ] as const;
  const workMs = 200_000;
  let isSpent = false;
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + (isSpent ? workMs : 0),
    // Only the budget waits so long.
    sleep: async (ms, signal) => {
      if (ms < 120_000) return await systemClock.sleep(ms, signal);
      while (!isSpent) await systemClock.sleep(5, signal);
    },
  };
  await using scene = await scriptSession(script, { ground: granting({ workMs }), clock });
  const { channel } = scene.session;
  const command = () => channel.state.toolCalls.find(({ toolName }) => toolName === 'workspace.command');
  await executed(scene);
  await until(() => command() !== undefined, 'the command of the model');
  isSpent = true;
  await rested(scene);
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'budget_time' }, lastNote(scene.session));
  t.equal(command()?.status, 'unknown');
  t.match(pendingOf(channel.state), [{ kind: 'post_plan_choice', metadata: { stopped: 'budget_time' } }]);
  await scene.say('/goal cancel enough of it');
  await scene.ended();
  t.match(goalOf(scene), { status: 'cancelled' });
  t.match(lastNote(scene.session), 'given up: enough of it');
  t.strictSame(pendingOf(channel.state), []);
});

long(
  'two runs with the same result block the goal with `no_progress` until the user says how to go on',
  async (t) => {
    let made = 0;
    const answer = ({ body }: Asked): ScriptedReply => {
      const text = JSON.stringify(body);
      if (text.includes('submit_intent_draft')) return submits(heldDraft);
      if (!text.includes('submit_plan_draft')) return cannot;
      made += 1;
      return plans(`look at it, ${made}`);
    };
    await using scene = await scriptSession(answer, { clock: hasty });
    const { channel } = scene.session;
    await executed(scene);
    await rested(scene);
    t.match(
      goalOf(scene),
      { status: 'blocked', blockReason: 'no_progress', loops: 2 },
      lastNote(scene.session),
    );
    t.equal(made, 2, 'what stopped is not planned anew');
    await t.rejects(scene.say('/plan continue 3'), { code: 'UNSUPPORTED_OPERATION' });
    t.match(pendingOf(channel.state), [{ metadata: { stopped: 'no_progress' } }]);
    await scene.say('look at the addition');
    const again = await scene.asked('post_plan_choice');
    t.match(again.metadata.changes, ['- look at it, 2', '+ look at it, 3']);
    t.ok(JSON.stringify(scene.model.asked.at(-1)?.body).includes('look at the addition'));
  },
);

long('a failing provider is retried after a delay and then blocks the goal', async (t) => {
  // As often as one question is put.
  let down = 6;
  const waits: number[] = [];
  const clock: Clock = {
    ...hasty,
    sleep: (ms, signal) => {
      if (ms >= 30_000) waits.push(ms);
      return hasty.sleep(ms, signal);
    },
  };
  await using scene = await scriptSession(
    ({ body }) => {
      if (down > 0) {
        down -= 1;
        return { fails: [503, { error: { message: 'down' } }] };
      }
      return JSON.stringify(body).includes('submit_intent_draft') ? submits(heldDraft) : { text: '' };
    },
    { clock },
  );
  await scene.say(`/goal start ${objective}`);
  await scene.asked('intent_review_choice');
  t.strictSame(
    waits.filter((ms) => ms === 30_000),
    [30_000],
  );
  t.match(lastNote(scene.session), /asked again in 30 s \(1 of 3\)/);
  await scene.say('/goal cancel');
  await scene.ended();
  down = Number.POSITIVE_INFINITY;
  await scene.say('/goal start and again');
  await scene.ended();
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'provider_failed' }, lastNote(scene.session));
  t.equal(scene.session.channel.state.status, 'error');
});

t.test('a provider that refuses is not retried, and a waiting turn can be cancelled', async (t) => {
  let status = 401;
  const waits = new Set<number>();
  const clock: Clock = {
    ...hasty,
    sleep(ms, signal) {
      waits.add(ms);
      // Nobody here waits half a minute; who stops does not have to.
      return ms === 30_000 ? systemClock.sleep(600_000, signal) : hasty.sleep(ms, signal);
    },
  };
  await using scene = await scriptSession(() => ({ fails: [status, { error: { message: 'no' } }] }), {
    clock,
  });
  await scene.say(`/goal start ${objective}`);
  await scene.ended();
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'provider_failed' }, lastNote(scene.session));
  t.notOk(waits.has(30_000));
  status = 503;
  await scene.say('/goal start');
  await until(() => waits.has(30_000));
  await scene.say('/goal cancel');
  await scene.ended();
  t.match(goalOf(scene), { status: 'cancelled' });
});

long('a goal whose run was stopped continues that run after the user executes it', async (t) => {
  let isStuck = true;
  let replies = 0;
  await using scene = await scriptSession(({ body }) => {
    const text = JSON.stringify(body);
    if (text.includes('submit_intent_draft')) return submits(heldDraft);
    if (text.includes('submit_plan_draft')) return plans('take the cent away');
    if (isStuck) return { calls: [['shell', { command: 'node --test --watch' }]] };
    replies += 1;
    return makesFix[replies - 1] ?? { text: 'done' };
  });
  const { channel } = scene.session;
  await executed(scene);
  await until(() => channel.state.toolCalls.some(({ status }) => status === 'running'));
  const run = goalOf(scene)?.run;
  await channel.send({ type: 'cancel', proof: { from: 'local' } });
  await scene.ended();
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'interrupted' });
  isStuck = false;
  await scene.say('/goal start');
  const asked = scene.model.asked.length;
  const choice = await scene.asked('post_plan_choice');
  t.equal(scene.model.asked.length, asked, 'nothing runs before a person says so');
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await scene.ended();
  t.match(goalOf(scene), { status: 'achieved', loops: 1, run }, lastNote(scene.session));
});
