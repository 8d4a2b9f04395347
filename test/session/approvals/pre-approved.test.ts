import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { lastNote, scriptSession } from '../work/scripted-session.ts';

const runs = (command: string): ScriptedReply => ({ calls: [['shell', { command }]] });
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

long('in a run, an approved command repeats without a prompt until it is revoked', async (t) => {
  const test = 'node --test';
  const grants = keepGrants(systemClock);
  const tool = [runs(test), runs(test), runs(`${test} --test-reporter=tap`), runs(test)];
  await using scene = await scriptSession([submits(priceDraft), plans, ...tool, ...makesFix], {
    approval: { policy: 'untrusted', ttlSeconds: 300, grants, mask: (text) => text },
  });
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const first = await scene.asked('approval');
  t.match(first.metadata, {
    command: test,
    verdict: 'unknown',
    segments: [{ text: test, verdict: 'unknown', rule: 'not-known' }],
    isExact: true,
    argv: ['node', '--test'],
  });
  await scene.answer(first.id, { selectedOption: 'approve_session' });
  const second = await scene.asked('approval');
  t.match(
    second.metadata,
    { command: `${test} --test-reporter=tap` },
    'the same words again went by themselves',
  );
  const [granted] = scene.session.grants.list();
  t.match(granted, { kind: 'session', what: test, grantedBy: { kind: 'tui' } });
  scene.session.grants.revoke(granted?.id ?? '');
  await scene.answer(second.id, { selectedOption: 'deny' });
  const third = await scene.asked('approval');
  t.match(third.metadata, { command: test }, 'what was revoked is asked about again');
  await scene.answer(third.id, { selectedOption: 'approve' });
  const write = await scene.asked('approval');
  t.match([write.metadata.action, write.metadata.command], ['write', undefined]);
  await scene.answer(write.id, { selectedOption: 'approve', applyToFuture: 'accept_all' });
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'completed', lastNote(scene.session));
});
