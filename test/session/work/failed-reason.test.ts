import t from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { failedReason } from '../../../session/work/open-work.ts';
import { priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { lastNote, scriptSession } from './scripted-session.ts';

const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

long('a turn that fails during a run says how the run goes on, here and in a shell', async (t) => {
  const script = [submits(priceDraft), plans, { fails: [401, { error: { message: 'no' } }] }] as const;
  await using scene = await scriptSession(script);
  await scene.say('Make prices exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  const { id, metadata } = await scene.asked('post_plan_choice');
  await scene.answer(id, { selectedOption: 'execute' });
  await scene.ended();
  const note = lastNote(scene.session);
  t.match(note, /^PROVIDER_FAILED: /);
  t.match(note, `writ resume ${metadata.runId}`);
  t.ok(note.endsWith('\n- its run is kept: `/plan continue` goes on with it'), note);
});

t.test(
  'a full disk is reported with advice, and a goal or finished run gets no hint to continue',
  async (t) => {
    const idle = { run: undefined, outcome: undefined, goal: undefined, turn: 't' };
    const fault = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    t.equal(
      failedReason(fault, idle),
      'EVIDENCE_WRITE_FAILED: ENOSPC: no space left on device, write\n- make room on the disk, then say it again: nothing that was said is lost',
    );
    t.equal(failedReason(new Error('odd'), idle), 'odd');
    t.equal(failedReason(null, idle), 'null');
    const refused = new WritError('PROVIDER_FAILED', { message: 'away', hints: ['wait'] });
    t.equal(failedReason(refused, idle), 'PROVIDER_FAILED: away\n- wait');
    const goal = { status: 'active', turn: 't' } as never;
    t.match(failedReason(refused, { ...idle, run: 'r' }), 'continue');
    t.notMatch(failedReason(refused, { ...idle, run: 'r', goal }), 'continue');
    t.notMatch(failedReason(refused, { ...idle, run: 'r', outcome: { runId: 'r' } as never }), 'continue');
  },
);
