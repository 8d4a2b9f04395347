import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import type { GoalCriterion } from '../../../session/state/goal.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { areAccepted, evaluateCriteria, rewrittenTests } from '../../../session/work/pursue-step.ts';
import { makesFix, priceDraft, priceFix, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import type { Asked } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const objective = 'A price is one cent too high: make it exact.';
const verified = [{ criterion: 'criterion-1', checks: ['unit'] }];
const heldDraft = { ...priceDraft, verified };
const plans = (...steps: readonly string[]): ScriptedReply => ({
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps }] }]],
});
/** Attempts of a run wait for one another; nobody here has that time. */
const hasty: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 120_000 ? ms : Math.min(ms, 5), signal),
};

/** Up to the question whether the plan of the goal is executed. */
async function planned(scene: ScriptedSession) {
  await scene.say(`/goal start ${objective}`);
  const review = await scene.asked('intent_review_choice');
  await scene.answer(review.id, { selectedOption: 'confirm' });
  return scene.asked('post_plan_choice');
}

/** Until its turn is over, or waits for somebody. */
const rested = ({ session: { channel } }: ScriptedSession) =>
  until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);

const goalOf = ({ session: { channel } }: ScriptedSession) => channel.state.goal;

t.test(
  'a goal is drafted, confirmed, planned, executed and achieved by the gates that ran its checks',
  async (t) => {
    await using scene = await scriptSession([submits(heldDraft), plans('take the cent away'), ...makesFix]);
    await scene.say(`/goal start ${objective}`);
    const review = await scene.asked('intent_review_choice');
    t.match(
      review.description,
      /What the goal is held to\n\n- A price is one cent too high: make it exact.*verified by unit/,
    );
    t.match(review.metadata.criteria, [
      { id: 'criterion-1', text: objective, checks: ['unit'], status: 'open' },
    ]);
    t.match(goalOf(scene), { status: 'active', loops: 0 });
    await scene.answer(review.id, { selectedOption: 'confirm' });
    const choice = await scene.asked('post_plan_choice');
    t.match(choice.metadata.goal, { status: 'active', budget: { tokens: { limit: 100_000 } } });
    t.strictSame(choice.metadata.grants, { tokens: 100_000, costUsd: 1, seconds: 600 });
    t.strictSame(scene.session.channel.state.patchsets, [], 'nothing was changed before a person said so');
    await scene.answer(choice.id, { selectedOption: 'execute' });
    await scene.ended();
    t.equal(scene.session.channel.state.status, 'completed', lastNote(scene.session));
    t.match(goalOf(scene), { status: 'achieved', loops: 1, criteria: [{ status: 'accepted' }] });
    t.match(lastNote(scene.session), /^achieved: run \S+ is committed/, 'it is told, too');
    t.ok((goalOf(scene)?.budget.used.tokens ?? 0) > 0, 'what models came to is counted');
    t.match(scene.sample.git('log', '-1', '--format=%s'), /Prices are exact/);
    const input = JSON.parse(
      scene.sample.git('show', `refs/ai/runs/${goalOf(scene)?.run}:decision-input.json`),
    );
    t.match(input.replans, { count: 0, limit: 1 }, 'a run of a session revises its plan at most once');
    const drafting = JSON.stringify(scene.model.asked[0]?.body);
    t.ok(
      drafting.includes('criterion-1') && drafting.includes('verified'),
      'the drafter is told of the criteria',
    );
  },
);

long('a failed check refutes a criterion despite the claim of the model, and the goal goes on', async (t) => {
  let made = 0;
  let replies = 0;
  const broken = priceFix.replace('price(2, 100), 200', 'price(2, 100), 201');
  const answer = ({ body }: Asked): ScriptedReply => {
    const text = JSON.stringify(body);
    if (text.includes('submit_intent_draft')) return submits(heldDraft);
    if (text.includes('submit_plan_draft')) {
      made += 1;
      return plans(made === 1 ? 'test the wrong thing' : 'take the cent away');
    }
    replies += 1;
    const isRight = text.includes('take the cent away');
    if (text.includes('apply_patch') && replies % 2 === 1)
      return { calls: [['apply_patch', { patch: isRight ? priceFix : broken }]] };
    const claim = 'done: every check passes and every criterion is accepted';
    return { calls: [['submit_task_complete', { complete: true, summary: claim }]] };
  };
  await using scene = await scriptSession(answer, { clock: hasty });
  const { channel } = scene.session;
  const seen: unknown[] = [];
  channel.subscribe((_state, facts) => {
    for (const fact of facts)
      if (fact.type === 'goal-moved' && fact.change.loops !== undefined)
        seen.push([fact.change.loops, fact.change.status, fact.change.criteria?.map(({ status }) => status)]);
  });
  const choice = await planned(scene);
  await scene.answer(choice.id, { selectedOption: 'execute' });
  await scene.ended();
  t.equal(channel.state.status, 'completed', lastNote(scene.session));
  t.strictSame(seen, [
    [1, undefined, ['refuted']],
    [2, 'achieved', ['accepted']],
  ]);
  const notes = channel.state.transcript.filter(({ title }) => title === 'Goal');
  t.match(
    notes[0]?.content,
    /runs again by itself\nthis run and its plan: [1-9]\d* model calls, [\d.]+k? tokens/,
  );
  const planning = scene.model.asked
    .map(({ body }) => JSON.stringify(body))
    .filter((text) => text.includes('submit_plan_draft'));
  t.match(planning[1], /check unit failed/, 'the planner is told what was found');
});

t.test('a criterion that no check verifies blocks the goal before any question', async (t) => {
  const untied = { ...priceDraft, verified: [{ criterion: 'criterion-1', checks: [] }] };
  await using scene = await scriptSession([
    submits({ ...priceDraft, verified: [{ criterion: 'criterion-1', checks: ['none such'] }] }),
    submits({ ...priceDraft, verified: [{ criterion: 'criterion-2', checks: ['unit'] }] }),
    submits(untied),
  ]);
  await scene.say(`/goal start ${objective}`);
  await rested(scene);
  const { state } = scene.session.channel;
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'criterion_unverifiable' });
  t.strictSame(state.interactions, []);
  t.match(lastNote(scene.session), /criterion_unverifiable.*no check of the draft verifies\n- criterion-1/s);
  const told = JSON.stringify(scene.model.asked.at(-1)?.body);
  t.match(told, /the check `none such`, which the draft does not have/);
  t.match(told, /the criterion `criterion-1` 0 times.*`criterion-2`, which is none of the criteria/s);
});

/** What a patch does with the case of a failing test. */
const rewritings: Readonly<Record<string, string>> = {
  'another value': `-  assert.equal(price(2, 100), 200);
+  assert.equal(price(2, 100), 201);`,
  'a line more': `+  const price = (count, cents) => count * cents;
   assert.equal(price(2, 100), 200);`,
};

/** The lines of a patch that takes another one back. */
function reversed(lines: string): string {
  const swapped = lines
    .split('\n')
    .map((line) => line.replace(/^[-+]/, (sign) => (sign === '-' ? '+' : '-')));
  return swapped.sort((a, b) => (a[0] === '-' ? 0 : 1) - (b[0] === '-' ? 0 : 1)).join('\n');
}

for (const [name, lines] of Object.entries(rewritings))
  long(`a goal is not achieved by rewriting a test that failed at the base: ${name}`, async (t) => {
    const sample = makeSample();
    const red = (cents: number): string =>
      `\ntest('two cost twice as much as one', () => {\n  assert.equal(price(2, 100), ${cents});\n});\n`;
    const path = join(sample.root, 'test/price.test.js');
    writeFileSync(path, `${readFileSync(path, 'utf8')}${red(200)}`);
    sample.git('commit', '--quiet', '--all', '-m', 'A price is wrong');
    const rewrites = `*** Begin Patch
*** Update File: src/price.js
@@
-/** Price of \`count\` items, in cents. */
+/** Price of \`count\` items, in cents, exactly. */
*** Update File: test/price.test.js
@@
${lines}
 });
+
+test('three cost more than two', () => {
+  assert.ok(price(3, 100) > price(2, 100));
+});
*** End Patch`;
    const more = `*** Begin Patch
*** Update File: src/price.js
@@
-/** Price of \`count\` items, in cents, exactly. */
+/** Price of \`count\` items, in whole cents. */
*** Add File: test/more.test.js
+import assert from 'node:assert/strict';
+import { test } from 'node:test';
+import { price } from '../src/price.js';
+
+test('four cost more than three', () => {
+  assert.ok(price(4, 100) > price(3, 100));
+});
*** End Patch`;
    const restores = `*** Begin Patch
*** Update File: src/price.js
@@
-  return count * cents + 1;
+  return count * cents;
*** Update File: test/price.test.js
@@
${reversed(lines)}
*** Add File: test/five.test.js
+import assert from 'node:assert/strict';
+import { test } from 'node:test';
+import { price } from '../src/price.js';
+
+test('five cost five times as much', () => {
+  assert.equal(price(5, 100), 500);
+});
*** End Patch`;
    const works = (step: string, patch: string): readonly ScriptedReply[] => [
      plans(step),
      { calls: [['apply_patch', { patch }]] },
      { calls: [['submit_task_complete', { complete: true, summary: step }]] },
    ];
    const script: readonly ScriptedReply[] = [
      submits(heldDraft),
      ...works('make the test pass', rewrites),
      ...works('say more', more),
      ...works('restore the test', restores),
    ];
    await using scene = await scriptSession(script, {}, sample);
    const choice = await planned(scene);
    await scene.answer(choice.id, { selectedOption: 'execute' });
    await rested(scene);
    t.match(
      goalOf(scene),
      {
        status: 'blocked',
        blockReason: 'expectation_changed',
        loops: 1,
        criteria: [{ status: 'refuted' }],
      },
      lastNote(scene.session),
    );
    t.match(
      lastNote(scene.session),
      /pass only because the change rewrote them:\n- two cost twice as much as one/,
    );
    const waits = await scene.asked('post_plan_choice');
    t.equal(waits.metadata.planId, choice.metadata.planId, 'its plan waits');
    // Both ways on that the note names: words, and the plan.
    const isSaid = name === 'another value';
    if (isSaid) await scene.say('The tests are to be restored.');
    if (isSaid) await until(() => pendingOf(scene.session.channel.state).every(({ id }) => id !== waits.id));
    const again = await scene.asked('post_plan_choice');
    await scene.answer(again.id, { selectedOption: 'execute' });
    await until(() => goalOf(scene)?.loops === 2 && goalOf(scene)?.status === 'blocked');
    t.match(
      goalOf(scene),
      { blockReason: 'expectation_changed', criteria: [{ status: 'refuted' }] },
      'another change does not restore the test',
    );
    const last = await scene.asked('post_plan_choice');
    t.match(lastNote(scene.session), /- two cost twice as much as one/);
    await scene.answer(last.id, { selectedOption: 'execute' });
    await scene.ended();
    t.match(goalOf(scene), { status: 'achieved', loops: 3 }, lastNote(scene.session));
    t.equal(scene.session.channel.state.status, 'completed');
    const intents = scene.sample.git('for-each-ref', '--format=%(refname)', 'refs/ai/intents').split('\n');
    t.equal(intents.length, 3, 'each further change has an intent of its own');
    t.ok(intents.includes(`refs/ai/intents/${scene.session.channel.state.draft?.intentId}`));
  });

t.test('a criterion needs a testSuite if the test runner is known', async (t) => {
  const sample = makeSample();
  const manifest = join(sample.root, 'package.json');
  writeFileSync(manifest, JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }));
  sample.git('commit', '--quiet', '--all', '-m', 'Names its runner');
  const [unit] = priceDraft.checks;
  const script = { ...unit, kind: 'command', command: 'npm test' };
  await using scene = await scriptSession(
    [submits({ ...heldDraft, checks: [script] }), submits(heldDraft)],
    {},
    sample,
  );
  await scene.say(`/goal start ${objective}`);
  const { id, metadata } = await scene.asked('intent_review_choice');
  t.match(
    JSON.stringify(scene.model.asked.at(-1)?.body),
    /criterion `criterion-1` to no check of kind testSuite.*the script `test` of package\.json.*`node --test --test-reporter=tap`/,
    'the model is told which check to add',
  );
  const path = String(metadata.path);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"kind": "testSuite"', '"kind": "command"'));
  await scene.answer(id, { selectedOption: 'confirm' });
  await rested(scene);
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'criterion_unverifiable' });
  t.match(lastNote(scene.session), /no check of kind testSuite verifies\n- criterion-1/);
});

t.test('a draft whose check was removed by hand is not executed', async (t) => {
  await using scene = await scriptSession([submits(heldDraft)]);
  await scene.say(`/goal start ${objective}`);
  const { id, metadata } = await scene.asked('intent_review_choice');
  const path = String(metadata.path);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"id": "unit"', '"id": "other"'));
  await scene.answer(id, { selectedOption: 'confirm' });
  await rested(scene);
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'criterion_unverifiable' });
  t.strictSame(scene.session.channel.state.plans, []);
});

long('a declined goal is blocked, and the user resumes it without a model call', async (t) => {
  await using scene = await scriptSession([submits(heldDraft), plans('take the cent away'), ...makesFix]);
  const choice = await planned(scene);
  await scene.answer(choice.id, { selectedOption: 'cancel' });
  t.match(goalOf(scene), { status: 'blocked', blockReason: 'declined' });
  await t.rejects(scene.say('/goal start something else'), { code: 'GOAL_ALREADY_ACTIVE' });
  await scene.say('/goal status');
  t.match(
    lastNote(scene.session),
    /^blocked \(declined\): A price .*\n- open: A price .* \(unit\)\n0 runs evaluated.*\n`\/goal start` goes on with it/s,
  );
  const asked = scene.model.asked.length;
  await scene.say('/goal start');
  const again = await scene.asked('post_plan_choice');
  t.equal(scene.model.asked.length, asked);
  t.match(goalOf(scene), { status: 'active' });
  await scene.answer(again.id, { selectedOption: 'execute' });
  await scene.ended();
  t.match(goalOf(scene), { status: 'achieved', loops: 1 }, lastNote(scene.session));
  await t.rejects(scene.say('/goal cancel'), { code: 'GOAL_NOT_ACTIVE', hints: [/goal start OBJECTIVE/] });
});

long('a resumed goal executes its own plan, whatever was planned in between', async (t) => {
  const script = [
    submits(heldDraft),
    plans('take the cent away'),
    submits(priceDraft),
    plans('something else'),
  ];
  await using scene = await scriptSession([...script, ...makesFix]);
  const own = await planned(scene);
  await scene.answer(own.id, { selectedOption: 'cancel' });
  await scene.say('Do something else.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  const other = await scene.asked('post_plan_choice');
  t.equal(other.metadata.goal, undefined, 'what is no goal says nothing of one');
  await scene.answer(other.id, { selectedOption: 'cancel' });
  await scene.say('/goal start');
  const again = await scene.asked('post_plan_choice');
  t.equal(again.metadata.planId, own.metadata.planId);
  await scene.answer(again.id, { selectedOption: 'execute' });
  await scene.ended();
  t.match(goalOf(scene), { status: 'achieved', run: own.metadata.runId }, lastNote(scene.session));
});

t.test('a committed run accepts only criteria whose checks all ran and passed', async (t) => {
  const criteria: readonly GoalCriterion[] = [
    { id: 'a', text: 'a', checks: ['unit', 'lint'], status: 'open' },
    { id: 'b', text: 'b', checks: ['unit', 'gone'], status: 'open' },
    { id: 'c', text: 'c', checks: [], status: 'open' },
  ];
  const ran = (lint: 'passed' | 'failed', findings: readonly unknown[] = []) =>
    [
      {
        stage: 'fast',
        status: 'passed',
        expected: 2,
        ran: 2,
        findings: [],
        checks: [
          { id: 'unit', status: 'passed', findings },
          { id: 'lint', status: lint, tolerated: true, findings: [] },
        ],
      },
    ] as unknown as RunView['stages'];
  const commit = { type: 'commit', rationale: '', decisionDigest: '' } as const;
  const judged = (view: Pick<RunView, 'decision' | 'stages'>) =>
    evaluateCriteria(criteria, view, rewrittenTests(view).checks).map(({ status }) => status);
  t.strictSame(judged({ decision: commit, stages: ran('passed') }), ['accepted', 'refuted', 'refuted']);
  t.strictSame(judged({ decision: commit, stages: ran('failed') }), ['refuted', 'refuted', 'refuted']);
  const red = { rule: 'tests-kept', detail: { tests: ['two'], paths: ['test/two.js'], redAtBase: true } };
  const rewritten = { decision: commit, stages: ran('passed', [red]) };
  t.strictSame(judged(rewritten), ['refuted', 'refuted', 'refuted'], 'a red test was rewritten');
  t.strictSame(rewrittenTests(rewritten), { checks: ['unit'], tests: ['two'], paths: ['test/two.js'] });
  t.strictSame(judged({ stages: ran('failed') }), ['refuted', 'open', 'open']);
  t.strictSame(judged({ decision: { ...commit, type: 'abandon' }, stages: ran('passed') }), [
    'open',
    'open',
    'open',
  ]);
  t.notOk(areAccepted([]), 'of no criterion nothing is said');
});
