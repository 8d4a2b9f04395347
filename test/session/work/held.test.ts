import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { patchContentPath } from '../../../engine/record/settle-run.ts';
import { openSession } from '../../../session/open-session.ts';
import { hunksOf } from '../../../session/screen/hunks.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { undoOffers } from '../../../session/tui/local-commands.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makesFix, priceDraft, priceFix, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { runWrit } from '../../bin/start-writ.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, type ScriptedSession, scriptSession, settingOf } from './scripted-session.ts';

const local = { from: 'local' } as const;
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};
const says: ScriptedReply = { text: 'I see.' };

/** One file more than anybody wants. */
const fixAndMore = priceFix.replace(
  '*** End Patch',
  '*** Add File: src/extra.js\n+export const extra = 1;\n*** End Patch',
);
const makesMore: readonly ScriptedReply[] = [
  { calls: [['apply_patch', { patch: fixAndMore }]] },
  ...makesFix.slice(1),
];

/** A session whose first change is held. */
async function held(more: readonly ScriptedReply[] = []): Promise<ScriptedSession> {
  const scene = await scriptSession([submits(priceDraft), plans, ...makesMore, ...more]);
  await scene.say('/review on');
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  return scene;
}

const hunks = ({ session }: ScriptedSession) => {
  const { patchsets, reviews, held } = toSnapshot(session.channel.state);
  const patchset = patchsets.find(({ id }) => id === held?.patchset);
  return patchset === undefined ? [] : hunksOf(patchset, reviews);
};

const rejects = async (scene: ScriptedSession, path: string, comment: string): Promise<void> => {
  const { patchset, id = '' } = hunks(scene).find((one) => one.path === path) ?? {};
  if (patchset === undefined) throw new Error(`no hunk of ${path}`);
  const said = { patchset, path, hunk: id, verdict: 'reject', comment } as const;
  await scene.session.channel.send({ type: 'review', ...said, proof: local });
};

const chooses = async (scene: ScriptedSession, choice: string): Promise<void> => {
  const { id } = await scene.asked('request_user_input');
  await scene.answer(id, { answers: { review: [choice] } });
};

/** The content of a run with a line of somebody else in its patch. */
function swapPatch({ sample: { git, root, env } }: ScriptedSession, content: string): string {
  const ask = (args: readonly string[], input = ''): string =>
    outputOf('git', args, {
      cwd: root,
      env: { ...env, GIT_INDEX_FILE: join(root, '.git', 'swapped') },
      input,
    })
      .toString()
      .trim();
  const theirs = `${git('show', `${content}:${patchContentPath}`)}\n`.replace(
    'count * cents',
    'cents * count',
  );
  const blob = ask(['hash-object', '-w', '--stdin'], theirs);
  ask(['read-tree', content]);
  ask(['update-index', '--cacheinfo', `100644,${blob},${patchContentPath}`]);
  return git('commit-tree', ask(['write-tree']), '-m', 'swapped');
}

/** Exit code of `writ verify` of the last commit. */
async function verified({ sample: { root, env } }: ScriptedSession): Promise<number | null> {
  return (await runWrit(['verify', 'main'], { cwd: root, env })).code;
}

/** It is over, or asks again. */
const settled = ({ session: { channel } }: ScriptedSession): Promise<void> =>
  until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);

long('a held change is on no branch of the user until it is kept', async (t) => {
  await using scene = await held();
  const { sample, session } = scene;
  const before = sample.git('rev-parse', 'main');
  const asked = await scene.asked('request_user_input');
  t.match(asked.metadata, { target: 'refs/heads/main', questions: [{ id: 'review', kind: 'single' }] });
  t.equal(sample.git('rev-parse', 'main'), before, 'no branch of the person has moved');
  t.equal(sample.git('status', '--porcelain'), '');
  const { held: waiting } = toSnapshot(session.channel.state);
  t.equal(sample.git('rev-parse', waiting?.branch ?? ''), waiting?.commit);
  t.equal(toSnapshot(session.channel.state).patchsets.at(-1)?.status, 'proposed');
  const told = () => {
    const { outcome, transcript } = toSnapshot(session.channel.state);
    const titles = transcript.flatMap(({ title, metadata }) => ('outcome' in metadata ? [title] : []));
    return { decision: outcome?.decision, commit: outcome?.commit, titles };
  };
  const { commit } = waiting ?? {};
  t.strictSame(
    told(),
    { decision: 'held', commit, titles: ['Waiting for your review'] },
    'it is not told as committed',
  );
  await t.rejects(scene.answer(asked.id, { answers: { review: ['take-out'] } }), {
    code: 'INVALID_INTERACTION_RESPONSE',
  });
  const record = `refs/ai/runs/${waiting?.runId}`;
  const sealed = sample.git('rev-parse', record);
  sample.git('update-ref', '-d', record);
  await chooses(scene, 'keep');
  await settled(scene);
  t.match(lastNote(session), /has no record of this commit/);
  t.equal(sample.git('rev-parse', 'main'), before, 'what nobody could verify is not kept');
  sample.git('update-ref', record, sealed);
  await chooses(scene, 'keep');
  await scene.ended();
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  t.equal(sample.git('rev-parse', 'main'), waiting?.commit);
  t.equal(sample.git('status', '--porcelain'), '', 'the files follow');
  t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '', 'the branch that held it is gone');
  t.equal(toSnapshot(session.channel.state).patchsets.at(-1)?.status, 'accepted');
  t.match(told(), { decision: 'commit', commit }, 'once it is kept it is');
  t.notOk('held' in toSnapshot(session.channel.state));
  t.equal(await verified(scene), 0);
});

long('a rejected hunk is in no commit of the branch, and the model gets the reason once', async (t) => {
  await using scene = await held([says, says, submits(priceDraft), plans]);
  const { sample, session, model } = scene;
  const before = sample.git('rev-parse', 'main');
  const { id } = await scene.asked('request_user_input');
  await rejects(scene, 'src/extra.js', 'nobody asked for it');
  await t.rejects(scene.answer(id, { answers: { review: ['keep'] } }), {
    code: 'INVALID_INTERACTION_RESPONSE',
  });
  const content = `refs/ai/content/${session.channel.state.held?.runId}`;
  const kept = sample.git('rev-parse', content);
  sample.git('update-ref', content, swapPatch(scene, kept));
  await chooses(scene, 'take-out');
  await settled(scene);
  t.match(lastNote(session), /OBJECT_CORRUPT: .* is not the one that was reviewed/);
  t.equal(sample.git('rev-parse', 'main'), before);
  sample.git('update-ref', content, kept);
  await scene.say('/review');
  await chooses(scene, 'take-out');
  await settled(scene);
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  t.equal(sample.git('rev-parse', 'main^'), before);
  t.equal(sample.git('diff', '--name-only', 'main^', 'main'), 'src/price.js\ntest/price.test.js');
  const run = /Run-Id: (\S+)/.exec(sample.git('log', '-1', '--format=%B', 'main'))?.[1] ?? '';
  t.match(lastNote(session), run);
  t.match(
    toSnapshot(session.channel.state).outcome,
    { runId: run, decision: 'commit' },
    'what it came to is told',
  );
  t.strictSame(
    undoOffers(toSnapshot(session.channel.state)).map(({ name }) => name),
    [`undo ${run}`],
    'the run that was held and taken out of is no commit that could be taken back',
  );
  t.equal(await verified(scene), 0);
  t.match(sample.git('log', '-1', '--format=%B', 'main'), /without 1 hunk that a person rejected/);
  t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
  t.same(
    toSnapshot(session.channel.state)
      .patchsets.map(({ status }) => status)
      .slice(-2),
    ['rejected', 'accepted'],
  );
  await scene.say('/ask Well?');
  await scene.ended();
  await scene.say('/ask And now?');
  await scene.ended();
  const heard = JSON.stringify(model.asked.at(-1)?.body);
  t.equal(heard.split('nobody asked for it').length, 2, 'it is told once, and stays in the talk');
  t.match(heard, /which the person took out of it/);
  await scene.say('/review off');
  await scene.say('A price is one cent too low: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.asked('post_plan_choice');
  const planned = JSON.stringify(model.asked.at(-1)?.body);
  t.match(
    planned,
    /The person rejects this change.*Because: nobody asked for it/,
    'and once with the next plan',
  );
  await session.channel.send({ type: 'cancel', proof: local });
  await scene.ended();
  const talk = JSON.stringify(session.channel.state.dialogue);
  t.equal(talk.split('nobody asked for it').length, 2, 'it stands in the talk once');
});

long('a review that was killed after its answer is repeated and keeps the change', async (t) => {
  for (const [, isMoved] of casesOf({ 'before it moved': false, 'behind it': true }, ['behind it'])) {
    await using scene = await held();
    const { sample, session, model } = scene;
    const { id } = await scene.asked('request_user_input');
    const { threadId } = session;
    const { held: waiting } = toSnapshot(session.channel.state);
    const setting = await settingOf(sample, model, { resume: threadId });
    await using _engine = setting.engine;
    await session[Symbol.asyncDispose]();
    const { clock, witness } = setting;
    {
      const directory = threadDirectory(await openRepository(sample.root), threadId);
      await using thread = await openThread(directory, threadId, { clock, witness });
      const answer = { option: 'answer', answers: { review: ['keep'] } };
      await thread.append([{ type: 'answered', id, answer, by: { kind: 'tui' }, atMs: clock.now() }]);
    }
    if (isMoved) sample.git('update-ref', 'refs/heads/main', waiting?.commit ?? '');
    await using again = await openSession(setting);
    const { channel } = again;
    const [asked] = pendingOf(channel.state);
    t.match(asked, { kind: 'request_user_input', title: 'Prices are exact' });
    t.not(asked?.id, id);
    const given = { answers: { review: ['keep'] } };
    await channel.send({ type: 'respond', id: asked?.id ?? '', given, proof: local });
    await until(() => channel.state.turn === undefined);
    t.equal(channel.state.status, 'completed', lastNote(again));
    t.equal(sample.git('rev-parse', 'main'), waiting?.commit);
    t.equal(sample.git('status', '--porcelain'), '');
    t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
  }
});

long('remaining hunks that the gates refuse move no branch, and the user is prompted again', async (t) => {
  await using scene = await held();
  const { sample, session } = scene;
  const before = sample.git('rev-parse', 'main');
  await scene.asked('request_user_input');
  await rejects(scene, 'test/price.test.js', 'that is tested elsewhere');
  await chooses(scene, 'take-out');
  await settled(scene);
  t.match(lastNote(session), /what is left was not accepted: .*new-tests/);
  t.match(pendingOf(session.channel.state), [{ kind: 'request_user_input' }]);
  t.equal(sample.git('rev-parse', 'main'), before);
  await chooses(scene, 'discard');
  await scene.ended();
});

long('discarding a change or rejecting every hunk leaves no commit and no branch', async (t) => {
  for (const choice of ['discard', 'take-out']) {
    await using scene = await held();
    const { sample, session } = scene;
    const before = sample.git('rev-parse', 'main');
    await scene.asked('request_user_input');
    if (choice === 'take-out')
      for (const path of ['src/price.js', 'test/price.test.js', 'src/extra.js'])
        await rejects(scene, path, 'no');
    await chooses(scene, choice);
    await scene.ended();
    t.equal(session.channel.state.status, 'idle', lastNote(session));
    t.equal(sample.git('rev-parse', 'main'), before);
    t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
    t.match(lastNote(session), choice === 'discard' ? /is discarded/ : /every hunk is rejected/);
  }
});

long('a change that includes local changes leaves a clean working tree when it is kept', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans, ...makesFix, says]);
  const path = join(scene.sample.root, 'src/price.js');
  appendFileSync(path, '\n// mine\n');
  await scene.say('/review on');
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  const { id } = await scene.asked('request_user_input');
  await scene.answer(id, { answers: { localChanges: ['include'] } });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  const mine = readFileSync(path, 'utf8');
  await until(() => scene.session.channel.state.held !== undefined);
  t.equal(readFileSync(path, 'utf8'), mine, 'the file is untouched until then');
  await chooses(scene, 'keep');
  await settled(scene);
  t.match(
    scene.sample.git('show', 'main:src/price.js'),
    /count \* cents;[\s\S]*mine/,
    lastNote(scene.session),
  );
  t.equal(scene.sample.git('status', '--porcelain'), '');
});

t.test('`/review on` is refused where a branch `writ` blocks the review branch', async (t) => {
  await using scene = await scriptSession([]);
  scene.sample.git('branch', 'writ');
  await t.rejects(scene.say('/review on'), {
    code: 'UNSUPPORTED_OPERATION',
    message: /a branch `writ` exists/,
    hints: [/git branch -m writ/],
  });
  t.notOk('review' in scene.session.channel.state.settings, 'nothing was set');
  await scene.say('/review off');
  scene.sample.git('branch', '-m', 'writ', 'other');
  await scene.say('/review on');
  t.match(scene.session.channel.state.settings, { review: 'on' });
});
