import { readFileSync, writeFileSync } from 'node:fs';
import type { GoalAmounts } from '../../../session/state/goal.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { sampleWithPeople, sign } from '../../engine/people.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';
import { pricedSample } from './priced-sample.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const objective = 'A price is one cent too high: make it exact.';
const heldDraft = { ...priceDraft, verified: [{ criterion: 'criterion-1', checks: ['unit'] }] };
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};
const looks: ScriptedReply = { calls: [['read_file', { path: 'src/price.js' }]] };
const granting = (more: Partial<GoalAmounts>) =>
  ground({ goalBudget: { tokens: 100_000, costUsd: 1, workMs: 600_000, ...more } });

const goalOf = ({ session: { channel } }: ScriptedSession) => channel.state.goal;
/** Until its turn is over, or waits for somebody. */
const rested = ({ session: { channel } }: ScriptedSession) =>
  until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);

/** Up to the question whether the plan of the goal is executed. */
async function planned(scene: ScriptedSession, edit: (path: string) => void = () => {}) {
  await scene.say(`/goal start ${objective}`);
  const { id, metadata } = await scene.asked('intent_review_choice');
  edit(String(metadata.path));
  await scene.answer(id, { selectedOption: 'confirm' });
  return scene.asked('post_plan_choice');
}

long('a spent cost budget stops a run before the next model call until the user grants more', async (t) => {
  // Each reply costs two cents: a draft, a plan, and then two more.
  const script = [submits(heldDraft), plans, looks, looks, ...makesFix];
  await using scene = await scriptSession(script, { ground: granting({ costUsd: 0.03 }) }, pricedSample(100));
  const { channel } = scene.session;
  const choice = await planned(scene);
  t.match(choice.metadata, { grants: { costUsd: 0.03 }, goal: { budget: { costUsd: { used: 0.04 } } } });
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await rested(scene);
  t.match(
    goalOf(scene),
    { status: 'blocked', blockReason: 'budget_cost', loops: 0 },
    lastNote(scene.session),
  );
  t.equal(scene.model.asked.length, 4, 'no question follows');
  t.match(pendingOf(channel.state), [
    {
      kind: 'post_plan_choice',
      metadata: { stopped: 'budget_cost', goal: { budget: { costUsd: { used: 0.08, limit: 0.07 } } } },
    },
  ]);
  const run = goalOf(scene)?.run;
  await scene.say('/plan continue');
  await rested(scene);
  t.match(goalOf(scene), { status: 'achieved', loops: 1, run }, lastNote(scene.session));
  t.match(goalOf(scene)?.budget, { limit: { costUsd: 0.11 } });
  t.equal(
    toSnapshot(channel.state).usage?.costUsd,
    0.12,
    'what the session tells is what the goal was held to',
  );
});

long('a spent session budget blocks the goal with `session_budget`', async (t) => {
  const script = [submits(heldDraft), plans, ...makesFix];
  await using scene = await scriptSession(script, {}, pricedSample(100));
  const choice = await planned(scene);
  await scene.say('/budget 0.0401');
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await scene.ended();
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'session_budget', loops: 0 });
  t.match(lastNote(scene.session), /^SESSION_BUDGET_SPENT: /);
  t.equal(scene.model.asked.length, 2);
  const run = goalOf(scene)?.run;
  await scene.say('/budget off');
  await scene.say('/goal start');
  const again = await scene.asked('post_plan_choice');
  await scene.answer(again.id, { selectedOption: 'execute' });
  await scene.ended();
  t.match(goalOf(scene), { status: 'achieved', loops: 1, run }, lastNote(scene.session));
});

long('a goal whose run waits for approvals is blocked, and achieved once they are signed', async (t) => {
  const { sample, key } = sampleWithPeople(t);
  await using scene = await scriptSession([submits(heldDraft), plans, ...makesFix], {}, sample);
  const choice = await planned(scene, (path) => {
    const spec = JSON.parse(readFileSync(path, 'utf8')) as { risk: object };
    const risk = { ...spec.risk, humanInLoop: { required: true, minApprovers: 1 } };
    writeFileSync(path, JSON.stringify({ ...spec, risk }));
  });
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await scene.ended();
  const { run } = goalOf(scene) ?? {};
  const base = sample.git('rev-parse', 'main');
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'awaiting_people', loops: 0 });
  t.match(lastNote(scene.session), /^blocked \(awaiting_people\): run .* waits for people/);
  const goOn = async () => {
    await scene.say('/goal start');
    const { id } = await scene.asked('post_plan_choice');
    await scene.answer(id, { selectedOption: 'execute' });
    await scene.ended();
  };
  await goOn();
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'awaiting_people', run }, 'nobody has signed yet');
  t.equal(sample.git('rev-parse', 'main'), base);
  await sign(sample, run ?? '', key('ann@sample.example'), 'ann@sample.example');
  await goOn();
  t.match(goalOf(scene), { status: 'achieved', loops: 1, run }, lastNote(scene.session));
  t.not(sample.git('rev-parse', 'main'), base);
  t.equal(scene.model.asked.length, 4, 'the model is asked for nothing twice');
});
