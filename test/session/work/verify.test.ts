import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { alterEvidence } from './alter-evidence.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

async function asked(scene: ScriptedSession, text: string) {
  await scene.say(text);
  await scene.ended();
  const { transcript, toolCalls, status } = toSnapshot(scene.session.channel.state);
  return {
    note: transcript.at(-1),
    call: toolCalls.findLast(({ toolName }) => toolName === 'verify'),
    status,
  };
}

long('`/verify` verifies a sealed run or commit and changes nothing', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans, ...makesFix]);
  const { sample, session } = scene;
  t.match(await asked(scene, '/verify'), {
    note: { kind: 'info_note', title: 'Not verified', content: /sealed no commit: nothing was verified/ },
    call: undefined,
  });
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  await scene.ended();
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  const run = /Run-Id: (\S+)/.exec(sample.git('log', '-1', '--format=%B', 'main'))?.[1] ?? '';
  const commit = sample.git('rev-parse', 'main').trim();
  const before = sample.state();
  const asks = scene.model.asked.length;
  for (const [text, target] of [
    ['/verify', run],
    [`/verify ${commit.slice(0, 12)}`, commit.slice(0, 12)],
  ] as const) {
    const { note, call, status } = await asked(scene, text);
    t.match(note, { title: 'Verified', content: target }, text);
    t.match(call, { status: 'completed', summary: `offline ${target}` });
    t.match(call?.output, new RegExp(`^verified  ${target}  (\\d+) of \\1 checks ran\n`));
    t.ok(call?.output?.includes(commit));
    t.equal(status, 'idle');
  }
  t.equal(sample.state(), before);
  t.equal(scene.model.asked.length, asks, 'no model is asked');
  const restore = alterEvidence(sample, run, 'evidence/0001-unit.json');
  const altered = await asked(scene, '/verify');
  t.match(altered, {
    note: { title: 'Not verified', content: `${run}: VERIFY_REFUTED: ` },
    call: {
      status: 'failed',
      output: /^not verified .*\n(?:.*\n)*failed {2}evidence:evidence\/0001-unit\.json/,
    },
  });
  t.match(altered.note?.content, /mismatch: evidence\/0001-unit\.json/, 'what was changed is named');
  restore();
  t.match((await asked(scene, '/verify')).note, { title: 'Verified' });
  sample.git('commit', '--quiet', '--amend', '-m', `Another change\n\nRun-Id: ${run}`);
  t.match((await asked(scene, '/verify main')).note, { title: 'Not verified', content: /^main: [A-Z_]+: / });
});

t.test('`/verify` reports an unsealed or unknown target as not verified', async (t) => {
  await using scene = await scriptSession([]);
  const unsealed = await asked(scene, '/verify main');
  t.match(unsealed, {
    note: { title: 'Not verified', content: /^main: [A-Z_]+: / },
    call: { status: 'failed' },
  });
  const nothing = await asked(scene, '/verify nothing-of-that-name');
  t.match(nothing, {
    note: { title: 'Not verified', content: /^nothing-of-that-name: [A-Z_]+: / },
  });
  for (const wrong of ['/verify ../x', '/verify -x', '/verify a b', '/verify .git/HEAD'])
    await t.rejects(scene.say(wrong), { code: 'UNSUPPORTED_OPERATION' }, wrong);
});
