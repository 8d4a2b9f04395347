import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Interaction } from '../../../session/state/interaction.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};
const heldDraft = { ...priceDraft, verified: [{ criterion: 'criterion-1', checks: ['unit'] }] };

type DraftQuestion = Extract<Interaction, { readonly kind: 'intent_review_choice' }>;

/** Puts other words into a file of a draft. */
function edit({ metadata }: DraftQuestion, from: string, to: string, name = 'intent.json'): void {
  const path = join(String(metadata.path), '..', name);
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, before.replace(from, to));
  if (readFileSync(path, 'utf8') === before) throw new Error(`\`${from}\` is nowhere in ${path}`);
}

/** Until its turn is over, or waits for somebody. */
const rested = ({ session: { channel } }: ScriptedSession) =>
  until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);

async function drafted(scene: ScriptedSession): Promise<DraftQuestion> {
  await scene.say('/goal start A price is one cent too high: make it exact.');
  return scene.asked('intent_review_choice');
}

async function planned(scene: ScriptedSession) {
  const review = await drafted(scene);
  await scene.answer(review.id, { selectedOption: 'confirm' });
  return { review, choice: await scene.asked('post_plan_choice') };
}

const command = '"node --test --test-isolation=none --test-reporter=tap"';

long('a spec that was changed after its confirmation is not run', async (t) => {
  for (const [flips, edits] of [
    [false, [[command, '"true"']]],
    // Executed with another network a contract is confirmed once more: that one, and no other.
    [true, [[command, '"true"']]],
    [
      false,
      [
        [command, '"true"'],
        ['"status": "draft"', '"status": "active"'],
      ],
    ],
  ] as const) {
    await using scene = await scriptSession([submits(heldDraft), plans, ...makesFix]);
    const { review, choice } = await planned(scene);
    for (const [from, to] of edits) edit(review, from, to);
    if (flips) await scene.answer(choice.id, { selectedOption: 'network' });
    await scene.answer(choice.id, { selectedOption: 'execute' });
    await rested(scene);
    const note = lastNote(scene.session);
    t.match(note, /^LIFECYCLE_NOT_ACTIVE: .* was changed after it was confirmed/);
    t.match(scene.session.channel.state.goal, { status: 'blocked', criteria: [{ status: 'open' }] });
    t.equal(scene.model.asked.length, 2, 'nobody worked on it');
  }
});

long(
  'a spec edited before its confirmation is reported, and refused if it is invalid or looser',
  async (t) => {
    {
      await using scene = await scriptSession([submits(heldDraft), plans]);
      edit(await drafted(scene), '"objectives": [', '"objectives": ["and nothing else", ');
      await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
      await scene.asked('post_plan_choice');
      const { transcript } = scene.session.channel.state;
      const told = transcript.find(({ title }) => title === 'Edited by hand since it was drafted');
      t.match(told?.content, /^- `intent\.objectives` was .*, and is \["and nothing else",/);
    }
    for (const [from, to, name, code] of [
      ['"level": "low"', '"level": "none"', 'intent.json', 'INTENTSPEC_INVALID'],
      ['"networkPolicy": "deny"', '"networkPolicy": "allow"', 'intent.json', 'DRAFT_LOOSENED'],
      ['"drafted":"', '"drafted":"e30K', 'request.json', /INTENTSPEC|OBJECT_CORRUPT/],
    ] as const) {
      await using scene = await scriptSession([submits(heldDraft), plans]);
      const review = await drafted(scene);
      edit(review, from, to, name);
      await scene.answer(review.id, { selectedOption: 'confirm' });
      await rested(scene);
      t.match(lastNote(scene.session), code, to);
      t.strictSame(scene.session.channel.state.plans, []);
    }
  },
);

t.test('a confirmation uses the draft in the thread and not the file beside the spec', async (t) => {
  await using scene = await scriptSession([submits(heldDraft), plans]);
  const review = await drafted(scene);
  edit(review, '"networkPolicy": "deny"', '"networkPolicy": "allow"');
  const path = String(review.metadata.path);
  const rest = join(path, '..', 'request.json');
  const kept = JSON.parse(readFileSync(rest, 'utf8'));
  writeFileSync(rest, JSON.stringify({ ...kept, drafted: readFileSync(path).toString('base64') }));
  await scene.answer(review.id, { selectedOption: 'confirm' });
  await rested(scene);
  t.match(lastNote(scene.session), /^OBJECT_CORRUPT: the stored draft .* is not the one that was drafted/);
});

t.test('the question of a draft names the advisories that its run needs', async (t) => {
  await using scene = await scriptSession([submits({ ...priceDraft, changeType: 'feature' })]);
  await scene.say('Make prices exact.');
  const { metadata, description } = await scene.asked('intent_review_choice');
  t.match(metadata.lacks, [
    /has to approve/,
    /no vulnerability advisories are imported.*`writ sca import FILE`/,
  ]);
  t.match(description, /## Missing here[^#]*no vulnerability advisories are imported/);
});
