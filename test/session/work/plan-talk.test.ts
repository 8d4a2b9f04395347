import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import type { ModelWork } from '../../../core/interfaces/model-work.ts';
import { readDraft } from '../../../engine/draft/stored-draft.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { call } from '../../agent/planner/ask-writ.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import type { Asked } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { ground } from '../state/walk.ts';
import { hasty } from './hasty-clock.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const plans = (...steps: readonly string[]): ScriptedReply => ({
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps }] }]],
});

const setsAside = {
  run: {
    schedulerVersion: '0.0.0',
    reach: reachProvider({ variable: () => undefined, keys: {} }),
    localChanges: 'set-aside' as const,
  },
};

/** A model that fails at every plan but one that says how, which is that of this revision. */
function failsUntil(revision: number, failsAlike = false): (asked: Asked) => ScriptedReply {
  let made = 0;
  let replies = 0;
  return ({ body }) => {
    const text = JSON.stringify(body);
    if (text.includes('submit_intent_draft')) return submits(priceDraft);
    if (text.includes('submit_plan_draft')) {
      made += 1;
      return plans(made < revision ? `look at it, ${made}` : 'take the cent away');
    }
    if (!text.includes('take the cent away')) {
      const summary = `the file puzzles me${failsAlike ? '' : `, ${made}`}`;
      return { calls: [['submit_task_complete', { complete: false, summary }]] };
    }
    replies += 1;
    return makesFix[replies - 1] ?? { text: 'done' };
  };
}

/** Up to the confirmed draft. */
async function toPlan(scene: ScriptedSession): Promise<void> {
  await scene.say('A price is one cent too high: make it exact.');
  const review = await scene.asked('intent_review_choice');
  await scene.answer(review.id, { selectedOption: 'confirm' });
}

/** Up to the question what is to be done with the plan. */
async function planned(scene: ScriptedSession) {
  await toPlan(scene);
  return scene.asked('post_plan_choice');
}

long('a failed plan is revised with its findings and run again automatically', async (t) => {
  await using scene = await scriptSession(failsUntil(2), { clock: hasty });
  const { id } = await planned(scene);
  await scene.answer(id, { selectedOption: 'execute' });
  await scene.ended();
  const { state } = scene.session.channel;
  t.equal(state.status, 'completed', lastNote(scene.session));
  t.match(
    state.plans.flatMap(({ status, run }) => (run === undefined ? [] : [[status, run.revision, run.repair]])),
    [
      ['failed', 1, { attempt: 0, limit: 3 }],
      ['completed', 2, { attempt: 1, limit: 3 }],
    ],
  );
  const asked = scene.model.asked.map(({ body }) => JSON.stringify(body));
  const planning = asked.filter((text) => text.includes('submit_plan_draft'));
  t.ok(planning[1]?.includes('the file puzzles me'), 'the planner reads why');
  const mending = asked.find((text) => !planning.includes(text) && text.includes('take the cent away'));
  t.match(mending, /was not accepted:\\n<untrusted>[^<]*the file puzzles me/, 'so does the first attempt');
  const { data } = await call(scene.sample, ['verify', 'HEAD']);
  const listed = data.targets[0].models.flatMap(({ exchanges }: ModelWork) => exchanges);
  t.equal(listed.length, asked.length, 'the provenance lists the calls of the failed run, too');
});

long('after three repairs the user decides how many more are allowed', async (t) => {
  await using scene = await scriptSession(failsUntil(6), { clock: hasty });
  const { id } = await planned(scene);
  await scene.answer(id, { selectedOption: 'execute' });
  const stopped = await scene.asked('post_plan_choice');
  t.match(stopped.metadata, { repair: { attempt: 3, limit: 3, cap: 10 } }, lastNote(scene.session));
  await t.rejects(scene.say('/plan continue 11'), { code: 'UNSUPPORTED_OPERATION' });
  await scene.say('/plan continue 5');
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'completed', lastNote(scene.session));
});

long('a run that fails as the one before it ends the repairs early, and each shows its cost', async (t) => {
  await using scene = await scriptSession(failsUntil(6, true), { clock: hasty });
  const { id } = await planned(scene);
  await scene.answer(id, { selectedOption: 'execute' });
  const stopped = await scene.asked('post_plan_choice');
  t.match(stopped.metadata, { repair: { attempt: 1, limit: 3 } }, lastNote(scene.session));
  const notes = scene.session.channel.state.transcript.filter(({ title }) => title === 'Repair');
  t.match(
    notes.map(({ content }) => content),
    [
      /repair 1 of 3 runs by itself\nthis run and its new plan: [1-9]\d* model calls, [\d.]+k? tokens/,
      /it failed as the run before it did: no repair runs by itself\nthis run and its new plan: [1-9]\d* model calls, [\d.]+k? tokens/,
    ],
  );
  const runs = () => scene.session.channel.state.plans.filter(({ status }) => status === 'failed').length;
  const before = runs();
  await scene.answer(stopped.id, { selectedOption: 'execute' });
  const again = await scene.asked('post_plan_choice');
  t.match(again.metadata, { repair: { attempt: 2, limit: 2 } }, 'one answer is one run');
  t.equal(runs(), before + 1);
  await scene.answer(again.id, { selectedOption: 'cancel' });
});

t.test('a plan is not executed after its working tree changed', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans('look at it'), plans('take it away')]);
  const { id } = await planned(scene);
  writeFileSync(join(scene.sample.root, 'package.json'), '{}\n');
  await t.rejects(scene.answer(id, { selectedOption: 'execute' }), { code: 'WORKSPACE_CHANGED' });
  await scene.answer(id, { selectedOption: 'modify', answers: { 'task-1.2': ['somebody changed it'] } });
  const again = await scene.asked('post_plan_choice');
  t.match(again.metadata, { revision: 2, changes: ['- look at it', '+ take it away'] });
  t.ok(JSON.stringify(scene.model.asked.at(-1)?.body).includes('somebody changed it'));
  await scene.answer(again.id, { selectedOption: 'cancel' });
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'idle');
});

t.test(
  'local changes at a planned path are asked about before a model plans, and stop without a person',
  async (t) => {
    await using scene = await scriptSession([submits(priceDraft)]);
    writeFileSync(join(scene.sample.root, 'src/price.js'), '// mine\n');
    await toPlan(scene);
    const { id, metadata } = await scene.asked('request_user_input');
    t.match(metadata, {
      paths: [{ path: 'src/price.js', reason: 'modified' }],
      questions: [{ options: [{ id: 'include' }, { id: 'set-aside' }, { id: 'stop' }] }],
    });
    await scene.answer(id, { answers: { localChanges: ['stop'] } });
    await scene.ended();
    t.match(lastNote(scene.session), /^WORKTREE_DIRTY: `src\/price\.js` has uncommitted changes/);
    t.match(lastNote(scene.session), 'pass `--local-changes include` or `set-aside`');
    t.equal(scene.model.asked.length, 1, 'only the draft was made by a model');
    t.equal(readFileSync(join(scene.sample.root, 'src/price.js'), 'utf8'), '// mine\n');

    await using unasked = await scriptSession([submits(priceDraft)], {
      approval: { policy: 'never', ttlSeconds: 300, grants: keepGrants(hasty), mask: (text) => text },
    });
    writeFileSync(join(unasked.sample.root, 'src/price.js'), '// mine\n');
    await toPlan(unasked);
    await unasked.ended();
    t.match(lastNote(unasked.session), /^WORKTREE_DIRTY/);
  },
);

long('a session goes on with local changes that the person includes', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans('take the cent away'), ...makesFix]);
  const path = join(scene.sample.root, 'src/price.js');
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n// mine\n`);
  await toPlan(scene);
  const { id } = await scene.asked('request_user_input');
  await scene.answer(id, { answers: { localChanges: ['include'] } });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'completed', lastNote(scene.session));
  t.match(scene.sample.git('show', 'HEAD:src/price.js'), /return count \* cents;\n}\n\n\/\/ mine$/);
  t.equal(scene.sample.git('status', '--porcelain'), '');
  await scene.say('/undo');
  const undo = await scene.asked('request_user_input');
  t.match(
    undo.description,
    'The run included your local changes to `src/price.js`. They are part of the commit, and are taken back with it.',
  );
  await scene.answer(undo.id, { answers: { undo: ['leave'] } });
});

long('a session that sets local changes aside merges them back into the change', async (t) => {
  await using scene = await scriptSession(
    [submits(priceDraft), plans('take the cent away'), ...makesFix],
    setsAside,
  );
  const path = join(scene.sample.root, 'src/price.js');
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n// mine\n`);
  const { id } = await planned(scene);
  const runId = scene.session.channel.state.plans.at(-1)?.run?.runId ?? '';
  const kept = readDraft(await openRepository(scene.sample.root), runId);
  t.equal(kept?.localChanges, 'set-aside', 'a resumed session goes on with the option');
  await scene.answer(id, { selectedOption: 'execute' });
  await scene.ended();
  t.equal(scene.session.channel.state.status, 'completed', lastNote(scene.session));
  t.notMatch(scene.sample.git('show', 'HEAD:src/price.js'), 'mine');
  t.match(readFileSync(path, 'utf8'), /return count \* cents;\n}\n\n\/\/ mine\n$/);
});

long('a session names the ref of local changes that conflict with the change', async (t) => {
  await using scene = await scriptSession(
    [submits(priceDraft), plans('take the cent away'), ...makesFix],
    setsAside,
  );
  writeFileSync(join(scene.sample.root, 'src/price.js'), '// mine\n');
  const { id } = await planned(scene);
  await scene.answer(id, { selectedOption: 'execute' });
  await scene.ended();
  const { status, transcript } = scene.session.channel.state;
  t.equal(status, 'completed', lastNote(scene.session));
  const note = transcript.find(({ title }) => title === 'Local changes')?.content ?? '';
  const [ref = ''] = /refs\/writ\/set-aside\/[\w-]+/.exec(note) ?? [];
  t.equal(scene.sample.git('show', `${ref}:src/price.js`), '// mine');
});

t.test('a draft is revised with the note of the user and shows what changed', async (t) => {
  const other = { ...priceDraft, summary: 'Prices are exact to the cent' };
  await using scene = await scriptSession([submits(priceDraft), submits(other)]);
  await scene.say('A price is one cent too high: make it exact.');
  const first = await scene.asked('intent_review_choice');
  await scene.answer(first.id, { selectedOption: 'modify' });
  t.match(lastNote(scene.session), /your next message is the note/);
  await scene.say('say to the cent');
  const second = await scene.asked('intent_review_choice');
  t.match(second.metadata, { revision: 2, runId: first.metadata.runId });
  t.match(second.metadata.changes, [/intent\.summary/]);
  await scene.answer(second.id, { selectedOption: 'cancel' });
  t.equal(scene.session.channel.state.status, 'idle');
  await t.rejects(scene.say(' '), { code: 'INVALID_BODY' });
  await scene.say('/ask What now?');
  await scene.ended();
});

long('the network that the user chose is written into the spec of the run', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans('take the cent away'), ...makesFix]);
  const { id } = await planned(scene);
  await scene.answer(id, { selectedOption: 'network' });
  await scene.answer(id, { selectedOption: 'execute' });
  await scene.ended();
  const { state } = scene.session.channel;
  t.equal(state.status, 'completed', lastNote(scene.session));
  const spec = scene.sample.git('show', `refs/ai/runs/${state.plans[0]?.run?.runId}:spec.json`);
  t.equal(JSON.parse(spec).constraints.security.networkPolicy, 'allow');
});

long('no run starts with a network where a command could approve itself', async (t) => {
  await using scene = await scriptSession([submits(priceDraft), plans('take the cent away'), ...makesFix], {
    selfTest: { result: async () => ({ isTried: true, reached: ['connect 127.0.0.1:1'] }) },
    ground: ground({ networkAccess: 'allow' }),
  });
  const { id, metadata } = await planned(scene);
  t.equal(metadata.networkAccess, 'allow', 'a thread was left like that');
  await scene.answer(id, { selectedOption: 'execute' });
  await scene.ended();
  t.match(lastNote(scene.session), /^SELF_APPROVAL_POSSIBLE/);
  t.equal(scene.session.channel.state.run, undefined);
  t.strictSame(scene.session.channel.state.patchsets, []);
});
