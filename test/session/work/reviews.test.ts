import { hunksOf } from '../../../session/screen/hunks.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { makesFix, priceDraft, priceFix, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { hasty } from './hasty-clock.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const local = { from: 'local' } as const;
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

async function execute(scene: ScriptedSession): Promise<void> {
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
}

const hunksIn = ({ session }: ScriptedSession, at: number) => {
  const { patchsets, reviews } = toSnapshot(session.channel.state);
  const patchset = patchsets.at(at);
  return patchset === undefined ? [] : hunksOf(patchset, reviews);
};

const review = (
  { session: { channel } }: ScriptedSession,
  { patchset, path, id }: ReturnType<typeof hunksIn>[number],
  said: { readonly verdict?: 'keep' | 'reject'; readonly comment?: string },
) => channel.send({ type: 'review', patchset, path, hunk: id, ...said, proof: local });

long('a run shows its change as hunks, and only hunks that are not committed can be reviewed', async (t) => {
  await using scene = await scriptSession([
    submits(priceDraft),
    plans,
    ...makesFix,
    { text: 'I see.' },
    { text: 'Yes.' },
  ]);
  const { channel } = scene.session;
  await execute(scene);
  await scene.ended();
  t.equal(channel.state.status, 'completed', lastNote(scene.session));
  const [price, test] = hunksIn(scene, -1);
  t.match(price, { path: 'src/price.js', header: /^@@ -\d+,\d+ \+\d+,\d+ @@/, lines: { length: 5 } });
  t.match(
    price?.lines.filter(({ kind }) => kind !== 'same'),
    [
      { kind: 'removed', text: '  return count * cents + 1;', oldLine: 3 },
      { kind: 'added', text: '  return count * cents;', newLine: 3 },
    ],
  );
  t.equal(test?.path, 'test/price.test.js');
  const diff = toSnapshot(channel.state).patchsets.at(-1)?.changes[0]?.diff ?? '';
  t.match(diff, /^--- a\/src\/price\.js\n\+\+\+ b\/src\/price\.js\n@@ -/);
  if (price === undefined) return;
  await t.rejects(review(scene, price, { verdict: 'reject' }), { code: 'INTERACTION_NOT_ACTIVE' });
  for (const wrong of [{ patchset: 'none' }, { path: 'none' }, { id: 'none' }])
    await t.rejects(review(scene, { ...price, ...wrong }, { verdict: 'keep' }), { code: 'NOT_FOUND' });
  const [said] = hunksIn(scene, 0);
  t.match(said, { path: 'src/price.js', header: '@@' });
  if (said === undefined) return;
  for (const wrong of [{}, { comment: ' ' }, { comment: 'x'.repeat(2001) }, { comment: 'a\u001bb' }])
    await t.rejects(review(scene, said, wrong), { code: 'INVALID_BODY' });
  t.notOk('reviews' in toSnapshot(channel.state), 'where nothing was said there is no member');
  await review(scene, said, { comment: 'and what of half a cent?' });
  await review(scene, said, { verdict: 'reject' });
  t.match(hunksIn(scene, 0)[0], { verdict: 'reject', comment: 'and what of half a cent?' });
  await scene.say('/ask Why?');
  await scene.ended();
  await scene.say('/ask Why again?');
  await scene.ended();
  const asked = scene.model.asked.slice(-2).map(({ body }) => JSON.stringify(body));
  for (const body of asked) {
    t.match(body, /The person rejects this change/);
    t.equal(body.split('and what of half a cent?').length, 2, 'it is told once, and stays in the dialogue');
  }
});

long('a review of hunks during a failing plan reaches the next planning once', async (t) => {
  const planned: string[] = [];
  let replies = 0;
  let say = (): void => undefined;
  const fails: ScriptedReply = {
    calls: [['submit_task_complete', { complete: false, summary: 'puzzled' }]],
  };
  await using scene = await scriptSession(
    ({ body }) => {
      const text = JSON.stringify(body);
      if (text.includes('submit_intent_draft')) return submits(priceDraft);
      if (text.includes('submit_plan_draft')) {
        planned.push(text);
        return plans;
      }
      replies += 1;
      if (replies === 1) return { calls: [['apply_patch', { patch: priceFix }]] };
      say();
      return fails;
    },
    { clock: hasty },
  );
  const said: Promise<unknown>[] = [];
  say = () => {
    if (said.length > 0) return;
    for (const one of hunksIn(scene, 0))
      said.push(review(scene, one, { verdict: 'reject', comment: 'rounding is done elsewhere' }));
  };
  await execute(scene);
  await scene.asked('post_plan_choice');
  t.equal((await Promise.all(said)).length, 2);
  t.equal(planned.length, 3, 'once by request, and after each failure until it is the same twice');
  t.notMatch(planned[0], /rounding/);
  t.match(planned[1], /The person rejects this change.*Because: rounding is done elsewhere/);
  t.notMatch(planned[2], /rounding/, 'once is enough');
});
