import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { runWrit } from '../../bin/start-writ.ts';
import { long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

const local = { from: 'local' } as const;
const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

/** A session that has made its change. */
async function changed({ isHeld = false } = {}): Promise<ScriptedSession> {
  const scene = await scriptSession([submits(priceDraft), plans, ...makesFix, { text: 'I see.' }]);
  if (isHeld) await scene.say('/review on');
  await scene.say('A price is one cent too high: make it exact.');
  await scene.answer((await scene.asked('intent_review_choice')).id, { selectedOption: 'confirm' });
  await scene.answer((await scene.asked('post_plan_choice')).id, { selectedOption: 'execute' });
  if (isHeld) {
    await scene.asked('request_user_input');
    await scene.session.channel.send({ type: 'cancel', proof: local });
  }
  await scene.ended();
  return scene;
}

const settled = ({ session: { channel } }: ScriptedSession): Promise<void> =>
  until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);

const answers = async (scene: ScriptedSession, choice: string): Promise<void> => {
  const { id } = await scene.asked('request_user_input');
  await scene.answer(id, { answers: { undo: [choice] } });
  await scene.ended();
};

const runOf = ({ sample }: ScriptedSession): string =>
  /Run-Id: (\S+)/.exec(sample.git('log', '-1', '--format=%B', 'main'))?.[1] ?? '';

/** A record as a remote may bring one, of the run that made the change; `lie` is told what is said in that file. */
function forgeRecord({ git, root, env }: ScriptedSession['sample'], ref: string, of: string, lie: Lie): void {
  const put = (input: string): string =>
    outputOf('git', ['hash-object', '-w', '--stdin'], { cwd: root, env, input }).toString().trim();
  const treeOf = (tree: string, path: string, text: string): string => {
    const index = { ...env, GIT_INDEX_FILE: join(root, '.git', 'forged') };
    const ask = (...args: string[]) => outputOf('git', args, { cwd: root, env: index }).toString().trim();
    ask('read-tree', tree);
    ask('update-index', '--add', '--cacheinfo', `100644,${put(text)},${path}`);
    return ask('write-tree');
  };
  const theirs = git('commit-tree', treeOf('main^', 'docs/theirs.md', 'theirs\n'), '-m', 'theirs');
  const said = JSON.parse(git('show', `${of}:${lie.path}`));
  lie.emit(said, theirs);
  git('update-ref', ref, git('commit-tree', treeOf(of, lie.path, JSON.stringify(said)), '-m', 'forged'));
}

interface Lie {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a record says
  readonly emit: (said: any, theirs: string) => void;
}

/** What takes it back would put files of theirs in place; it would be judged by a check of theirs. */
const lies: readonly Lie[] = [
  {
    path: 'gate-report.json',
    emit: (said, theirs) => {
      said.baseCommit = theirs;
    },
  },
  {
    path: 'spec.json',
    emit: (said) => {
      said.acceptance.verificationPlan.fastChecks[0].command = 'true';
    },
  },
];

long('`/undo` lists the files of a run and reverts them by a gated change of its own', async (t) => {
  await using scene = await changed();
  const { sample, session, model } = scene;
  const made = sample.git('rev-parse', 'main');
  const run = runOf(scene);
  writeFileSync(join(sample.root, 'mine.txt'), 'of another matter\n');
  await scene.say('/undo');
  const asked = await scene.asked('request_user_input');
  t.match(asked, {
    title: 'Undo: Prices are exact',
    metadata: { runId: run, commit: made, files: [{ path: 'src/price.js' }, { path: 'test/price.test.js' }] },
  });
  t.match(asked.description, /- modify `src\/price\.js`\n- modify `test\/price\.test\.js`/);
  t.equal(sample.git('rev-parse', 'main'), made, 'it is only listed');
  await answers(scene, 'leave');
  t.equal(sample.git('rev-parse', 'main'), made);
  await scene.say(`/undo ${run}/task-1`);
  await answers(scene, 'undo');
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  t.equal(sample.git('rev-parse', 'main^{tree}'), sample.git('rev-parse', `${made}^^{tree}`));
  t.equal(sample.git('rev-parse', 'main^'), made);
  const commit = sample.git('rev-parse', 'main');
  t.match(
    toSnapshot(session.channel.state).outcome,
    { decision: 'commit', commit },
    'what it came to is told',
  );
  t.match(sample.git('log', '-1', '--format=%B', 'main'), /^Undo "Prices are exact"\n\nTakes back /);
  t.match(sample.git('status', '--porcelain'), '?? mine.txt', 'the files follow');
  t.equal((await runWrit(['verify', 'main'], { cwd: sample.root, env: sample.env })).code, 0);
  await scene.say('/undo');
  await scene.ended();
  t.match(
    lastNote(session),
    /has committed nothing that is still there/,
    'neither it nor its undoing is the last one',
  );
  await scene.say('/ask Well?');
  await scene.ended();
  t.match(JSON.stringify(model.asked.at(-1)?.body), /The person has undone your change/);
});

long('`/undo` is refused for files that were changed by hand or by a later commit', async (t) => {
  await using scene = await changed();
  const { sample, session } = scene;
  const price = join(sample.root, 'src', 'price.js');
  const text = readFileSync(price, 'utf8');
  const refused = async (why: RegExp): Promise<void> => {
    const before = sample.git('rev-parse', 'main');
    await scene.say('/undo');
    await settled(scene);
    t.match(lastNote(session), why);
    t.strictSame(pendingOf(session.channel.state), []);
    t.equal(sample.git('rev-parse', 'main'), before);
  };
  writeFileSync(price, `// mine\n${text}`);
  await refused(/changed by hand since, and not run over: `src\/price\.js`/);
  writeFileSync(price, text.replace('count * cents', 'cents * count'));
  sample.git('commit', '--quiet', '-a', '-m', 'mine');
  await refused(
    /changed since by later commits \(commit [0-9a-f]{40}\), and not taken back: `src\/price\.js`/,
  );
  sample.git('revert', '--no-edit', 'HEAD');
  writeFileSync(price, `// mine\n\n\n\n\n${text}`);
  sample.git('commit', '--quiet', '-a', '-m', 'elsewhere in it');
  await scene.say('/undo');
  await scene.asked('request_user_input');
  writeFileSync(price, 'meanwhile\n');
  await answers(scene, 'undo');
  t.match(lastNote(session), /changed by hand since/, 'it is looked at again when it is done');
  sample.git('checkout', '--', 'src/price.js');
  await scene.say('/undo');
  await answers(scene, 'undo');
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  t.match(sample.git('show', 'main:src/price.js'), /^\/\/ mine\n.*cents \+ 1/s, 'what is elsewhere stays');
});

long('`/undo` of a held change opens the question of its review', async (t) => {
  await using scene = await changed({ isHeld: true });
  const { sample, session } = scene;
  const before = sample.git('rev-parse', 'main');
  t.ok('held' in toSnapshot(session.channel.state));
  await t.rejects(scene.say('/undo 0196'), { code: 'UNSUPPORTED_OPERATION' });
  const { runId = '' } = session.channel.state.held ?? {};
  sample.git('update-ref', `refs/ai/runs/${runId.slice(0, 8)}-another`, 'main');
  for (const other of [`${runId}/task-7`, runId.slice(0, 8)]) {
    await scene.say(`/undo ${other}`);
    await scene.ended();
    t.match(lastNote(session), /^(?:run .* has no task|there is no run)/);
    t.equal(session.channel.state.held?.runId, runId, 'nothing of it was meant');
  }
  await scene.say('/undo');
  const asked = await scene.asked('request_user_input');
  t.equal(session.channel.state.held?.runId, runId, 'nothing is discarded that nobody has said so of');
  await scene.answer(asked.id, { answers: { review: ['discard'] } });
  await scene.ended();
  t.match(lastNote(session), /is discarded/);
  t.match(
    session.channel.state.outcome,
    { runId, decision: 'none' },
    'its run decided a commit of no branch',
  );
  t.notOk('held' in toSnapshot(session.channel.state));
  t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
  t.equal(sample.git('rev-parse', 'main'), before);
});

long('`/undo` is refused for an unknown run, a forged record and a read-only context', async (t) => {
  await using scene = await changed();
  const { session } = scene;
  const run = runOf(scene);
  for (const [said, why] of [
    ['/undo 0196a3c0-2222', /there is no run/],
    [`/undo ${run}/task-7`, /has no task `task-7`/],
  ] as const) {
    await scene.say(said);
    await scene.ended();
    t.match(lastNote(session), why);
  }
  await t.rejects(scene.say('/undo everything'), { code: 'UNSUPPORTED_OPERATION' });
  const { sample } = scene;
  const ref = `refs/ai/runs/${run}`;
  const record = sample.git('rev-parse', ref);
  for (const lie of lies) {
    forgeRecord(sample, ref, record, lie);
    await scene.say(`/undo ${run}`);
    await settled(scene);
    t.match(lastNote(session), /the record of run .* is not that of commit/, lie.path);
    t.strictSame(pendingOf(session.channel.state), []);
  }
  await scene.say('/context review');
  await t.rejects(scene.say('/undo'), { code: 'UNSUPPORTED_OPERATION' });
});
