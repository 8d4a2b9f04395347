import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readSpoken } from '../../../session/state/slash.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { whyNotTask } from '../../../session/work/undo-step.ts';
import { runWrit } from '../../bin/start-writ.ts';
import { threeTasksRun } from '../../engine/parts/three-tasks.ts';
import { long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { until } from '../../waiting/until.ts';
import { lastNote, type ScriptedSession, scriptSession } from './scripted-session.ts';

/** A session over a repository in which a run of three Tasks was sealed. */
async function overThree(t: Pick<Test, 'teardown'>) {
  const made = await threeTasksRun(t);
  const scene = await scriptSession([{ text: 'I see.' }], {}, made.sample);
  return { scene, run: made.view.runId };
}

const answers = async (scene: ScriptedSession, choice: string): Promise<void> => {
  const { id } = await scene.asked('request_user_input');
  await scene.answer(id, { answers: { undo: [choice] } });
  await scene.ended();
};

/** A record that says of one task what another one did; together they still are the commit. */
function swapTasks({ git, root, env }: ScriptedSession['sample'], record: string): string {
  const names: Readonly<Record<string, string>> = { 'task-1': 'task-2', 'task-2': 'task-1' };
  const said = JSON.parse(git('show', `${record}:parts.json`)) as { readonly parts: { task: string }[] };
  for (const part of said.parts) part.task = names[part.task] ?? part.task;
  const ask = (args: readonly string[], input = ''): string =>
    outputOf('git', args, {
      cwd: root,
      env: { ...env, GIT_INDEX_FILE: join(root, '.git', 'swapped') },
      input,
    })
      .toString()
      .trim();
  const blob = ask(['hash-object', '-w', '--stdin'], JSON.stringify(said));
  ask(['read-tree', record]);
  ask(['update-index', '--cacheinfo', `100644,${blob},parts.json`]);
  return git('commit-tree', ask(['write-tree']), '-m', 'swapped');
}

const refused = async (t: Test, scene: ScriptedSession, text: string, why: RegExp): Promise<void> => {
  const { sample, session } = scene;
  const before = sample.git('rev-parse', 'main');
  await scene.say(text);
  await until(() => session.channel.state.turn === undefined || pendingOf(session.channel.state).length > 0);
  t.match(lastNote(session), why);
  t.strictSame(pendingOf(session.channel.state), []);
  t.equal(sample.git('rev-parse', 'main'), before);
};

long('one task of several is undone alone, by a gated change of its own', async (t) => {
  const { scene, run } = await overThree(t);
  await using held = scene;
  const { sample, session, model } = held;
  const made = sample.git('rev-parse', 'main');
  await refused(t, scene, `/undo ${run} task-9`, /has no task `task-9`; it has `task-1`, `task-2`, `task-3`/);
  const ref = `refs/ai/runs/${run}`;
  const record = sample.git('rev-parse', ref);
  sample.git('update-ref', ref, swapTasks(sample, record));
  await refused(t, scene, `/undo ${run} task-2`, /is not verified, and no task of it is taken back alone/);
  sample.git('update-ref', ref, record);
  await refused(t, scene, `/undo ${run}/task-1`, /later tasks of run \S+ \(`task-3`\), .*`src\/list\.js`/);
  writeFileSync(join(sample.root, 'src', 'two.js'), '// mine\n');
  await refused(t, scene, `/undo ${run} task-2`, /changed by hand since, and not run over: `src\/two\.js`/);
  sample.git('checkout', '--', 'src/two.js');
  await scene.say(`/undo ${run.slice(0, 30)} task-2`);
  t.match(await scene.asked('request_user_input'), {
    title: 'Undo task-2: Prices are exact',
    subject: `undo ${run}/task-2`,
    metadata: {
      runId: run,
      task: 'task-2',
      commit: made,
      files: [{ path: 'src/two.js', changeType: 'delete' }],
    },
  });
  t.equal(sample.git('rev-parse', 'main'), made, 'it is only listed');
  await answers(scene, 'undo');
  t.equal(session.channel.state.status, 'completed', lastNote(session));
  t.equal(sample.git('rev-parse', 'main^'), made);
  t.equal(sample.git('diff', '--name-status', 'main^', 'main'), 'D\tsrc/two.js');
  t.match(
    sample.git('log', '-1', '--format=%B', 'main'),
    new RegExp(
      `^Undo task task-2 of "Prices are exact"\\n\\nTakes back task task-2 of ${made} of run ${run}\\.`,
    ),
  );
  t.equal((await runWrit(['verify', 'main'], { cwd: sample.root, env: sample.env })).code, 0);
  await refused(t, scene, `/undo ${run} task-2`, /nothing of task `task-2` of run \S+ is left/);
  await scene.say('/ask Well?');
  await scene.ended();
  t.match(JSON.stringify(model.asked.at(-1)?.body), /undone what task `task-2` did of your change/);
  // The last change of a file that a fellow task made.
  await scene.say(`/undo ${run} task-3`);
  await answers(scene, 'undo');
  t.match(readFileSync(join(sample.root, 'src', 'list.js'), 'utf8'), /^\/\/ 1\n\/\/ 2\n/);
  await scene.say(`/undo ${run} task-1`);
  t.match(
    (await scene.asked('request_user_input')).metadata,
    { files: [{ path: 'src/list.js', changeType: 'delete' }] },
    'nothing is built upon it any more',
  );
  await answers(scene, 'leave');
});

t.test('`/undo` accepts a task after its run or alone', async (t) => {
  for (const [said, text] of [
    ['/undo', ''],
    ['/undo 0196a3c0', '0196a3c0'],
    ['/undo 0196a3c0 task-2', '0196a3c0/task-2'],
    ['/undo 0196a3c0/task-2', '0196a3c0/task-2'],
    ['/undo task-12', '/task-12'],
  ] as const)
    t.strictSame(readSpoken(said), { kind: 'undo', text });
  for (const said of [
    '/undo task-',
    '/undo task-2 0196a3c0',
    '/undo 0196a3c0 gate-fast',
    '/undo 0196a3c0/../x',
  ])
    t.throws(() => readSpoken(said), { code: 'UNSUPPORTED_OPERATION' });
});

t.test('a refused undo of a task gives the reason and an alternative', async (t) => {
  const why = (found: Parameters<typeof whyNotTask>[2]): string => whyNotTask('0196a3c0', 'task-2', found);
  t.match(
    why({ kind: 'untold' }),
    /its record does not say what each of them changed: `\/undo 0196a3c0` takes/,
  );
  t.match(why({ kind: 'gone' }), /is not kept any more: `\/undo 0196a3c0` takes all of it back/);
  t.match(why({ kind: 'unchanged' }), /task `task-2` has changed nothing/);
  t.match(
    why({ kind: 'refuted', why: 'x\u001b[2J' }),
    /does not bear its commit \(x[^\u001b]*\).*`\/verify 0196a3c0`/,
  );
  t.match(
    why({ kind: 'built-upon', paths: ['src/a.js'], tasks: ['task-3', 'task-4'] }),
    /changed since by later tasks of run 0196a3c0 \(`task-3`, `task-4`\), and not taken back: `src\/a\.js`; take that back first \(`\/undo 0196a3c0 task-4`\), or `\/undo 0196a3c0` takes all/,
  );
});
