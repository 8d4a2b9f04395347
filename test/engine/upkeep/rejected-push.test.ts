import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import { runLine } from '../../bin/host.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { makeSample, sampleSpec } from '../sample.ts';
import { closePool } from '../shared-pool.ts';

/** Two clones of a bare repository, with a patch that adds a feature. */
function twoClones(t: Test) {
  const sample = makeSample();
  const box = join(sample.root, '..');
  t.teardown(async () => {
    await closePool();
    rmSync(box, { recursive: true, force: true });
  });
  const { env } = sample;
  const bare = join(box, 'remote.git');
  sample.git('clone', '-q', '--bare', sample.root, bare);
  const [a, b] = [join(box, 'a'), join(box, 'b')];
  for (const clone of [a, b]) {
    sample.git('clone', '-q', bare, clone);
    outputOf('git', ['-C', clone, 'config', 'user.name', 'Sample maintainer']);
    outputOf('git', ['-C', clone, 'config', 'user.email', 'maintainer@sample.example']);
  }
  const git = (clone: string, ...args: string[]): string =>
    outputOf('git', ['-C', clone, ...args], { env })
      .toString()
      .trim();
  const call = async (cwd: string, code: number, ...argv: string[]) => {
    const answer = await runLine(['--json', ...argv], commands, { cwd, env });
    const document = JSON.parse(answer.out);
    t.equal(answer.code, code, `${argv.join(' ')}: ${JSON.stringify(document.error)}`);
    if (code === 0) t.strictSame(faultsOf(document.command, document.data), [], argv.join(' '));
    return document;
  };
  const feature = join(box, 'feature.diff');
  writeFileSync(
    feature,
    '--- /dev/null\n+++ b/src/tax.js\n@@ -0,0 +1 @@\n+export const tax = (cents) => Math.round(cents / 5);\n',
  );
  return { sample, box, a, b, env, git, call, feature };
}

t.test('a change whose push was rejected is sealed, not landed, and can be run again', async (t) => {
  const { box, a, b, env, git, call, feature } = twoClones(t);
  const theirs = join(box, 'spec.json');
  const metadata = { id: 'intent-of-b-0001' };
  writeFileSync(theirs, sampleSpec({ metadata, intent: { changeType: 'feature' } }));

  git(a, 'commit', '-q', '--allow-empty', '-m', 'theirs');
  const { data: left } = await call(b, 0, 'run', theirs, '--patch', feature);
  const sealed = left.decision.commit_sha;
  git(a, 'push', '-q');
  t.throws(() => git(b, 'push', '-q'), 'somebody was faster');
  await call(b, 0, 'push');
  await call(a, 0, 'fetch');

  const line = { run_id: left.run_id, decision: 'commit', landed: false };
  for (const [name, clone] of [
    ['where it was pushed', a],
    ['where it was made', b],
  ] as const) {
    const { data: listed } = await call(clone, 0, 'runs');
    t.match(
      listed.runs.find(({ run_id }: { run_id: string }) => run_id === left.run_id),
      line,
      name,
    );
    const { data } = await call(clone, 0, 'fsck');
    const where = `refs/ai/runs/${left.run_id}`;
    const ref = 'refs/remotes/origin/main';
    t.strictSame([data.problems, data.not_landed], [[], [{ where, commit: sealed, ref }]], name);
    t.match((await call(clone, 0, 'spec', 'show', '--current', 'intent-of-b-0001')).data, {
      status: 'active',
    });
  }
  t.match((await runLine(['runs'], commands, { cwd: a, env })).out, / sealed, not landed /);
  t.match((await runLine(['fsck'], commands, { cwd: a, env })).out, /^sealed, not landed {2}refs.ai.runs/m);
  for (const command of ['show', 'resume'])
    t.match((await call(b, 0, command, left.run_id)).data.notices, [
      /^sealed, not landed: .*`git pull --rebase --autostash`, then `writ seal --commit --by /,
    ]);

  git(b, 'pull', '-q', '--rebase');
  const rebased = git(b, 'rev-parse', 'HEAD');
  const refused = await call(b, 1, 'verify', rebased);
  t.match(refused.error, {
    code: 'VERIFY_REFUTED',
    details: { check: 'subject-commit', rewritten_from: sealed },
  });
  const advice = (await runLine(['verify', rebased], commands, { cwd: b, env })).err;
  t.match(advice, /another clone sealed this run as well, .*`writ fetch`/);
  t.match(
    advice,
    /not pushed and is the last commit, .*`writ seal --commit --by [\s\S]*git branch kept[\s\S]*git reset --keep @\{upstream\}[\s\S]*git cherry-pick/,
  );
  t.match(advice, new RegExp(`pushed, .*\`git revert ${rebased}\`.*run the spec again`));
  if (!isLong) return leaveOut(1);

  const weaker = await call(b, 129, 'seal', '--commit', '--check', 'true');
  t.match(weaker.error, { code: 'USAGE', message: /intent-of-b-0001.*demands something else/ });
  const message = git(b, 'log', '-1', '--format=%B');
  git(b, 'commit', '-q', '--amend', '-m', message, '-m', 'A paragraph below the trailers.');
  t.match((await call(b, 129, 'seal', '--commit', '--check', 'true')).error, { code: 'USAGE' });
  git(b, 'commit', '-q', '--amend', '-m', message);
  const { data: again } = await call(b, 0, 'seal', '--commit', '--by', left.run_id);
  t.equal(again.spec.digest, left.spec.digest, 'by the same contract');
  git(b, 'push', '-q');
  await call(b, 0, 'verify', again.decision.commit_sha);
  t.notOk('notices' in (await call(b, 0, 'show', again.run_id)).data);
  t.match((await call(b, 0, 'spec', 'show', '--current', 'intent-of-b-0001')).data, { status: 'closed' });
  t.match((await call(b, 1, 'run', theirs, '--patch', feature)).error, { code: 'LIFECYCLE_NOT_ACTIVE' });
  await call(b, 0, 'push');
  await call(a, 0, 'fetch');
  t.match((await call(a, 0, 'spec', 'show', '--current', 'intent-of-b-0001')).data, { status: 'active' });
  git(a, 'pull', '-q');
  t.match((await call(a, 0, 'spec', 'show', '--current', 'intent-of-b-0001')).data, { status: 'closed' });
});

long('two clones that run one spec share its history after a fetch', async (t) => {
  const { box, a, b, env, git, call, feature } = twoClones(t);
  const spec = join(box, 'spec.json');
  const id = 'intent-of-both-0001';
  writeFileSync(spec, sampleSpec({ metadata: { id }, intent: { changeType: 'feature' } }));
  const empty = join(box, 'empty.diff');
  writeFileSync(empty, '--- a/src/none.js\n+++ b/src/none.js\n@@ -1 +1 @@\n-a\n+b\n');
  const ended = { data: { status: 'closed' } };
  const lost = await runLine(['run', spec, '--patch', empty], commands, { cwd: b, env });
  t.not(lost.code, 0, 'an attempt that came to nothing is part of a history, too');
  const { data: left } = await call(b, 0, 'run', spec, '--patch', feature);
  await call(a, 0, 'run', spec, '--patch', feature);
  git(a, 'push', '-q');
  await call(a, 0, 'push');

  t.throws(() => git(b, 'push', '-q'), 'somebody was faster');
  git(b, 'fetch', '-q');
  git(b, 'reset', '-q', '--hard', 'origin/main');
  t.match((await call(b, 0, 'spec', 'show', '--current', id)).data, { status: 'active' });
  const { data: fetched } = await call(b, 0, 'fetch');
  const joined = fetched.refs.find(({ ref }: { ref: string }) => ref.includes('/intents/'));
  t.match(joined, { status: 'replaced', reason: /^two histories joined; ours was `refs\/ai\/fetched\// });
  t.match(await call(b, 0, 'spec', 'show', '--current', id), ended);
  t.match(await call(b, 1, 'run', spec, '--patch', feature), { error: { code: 'LIFECYCLE_NOT_ACTIVE' } });
  t.equal(
    (await call(b, 0, 'fetch')).data.refs.filter(({ status }: { status: string }) => status === 'replaced')
      .length,
    0,
  );
  await call(b, 0, 'push');
  await call(a, 0, 'fetch');
  for (const clone of [a, b]) {
    const { data: shown } = await call(clone, 0, 'spec', 'show', '--current', id);
    t.match(shown, { status: 'closed' });
    t.ok(JSON.stringify(shown).includes(left.run_id), 'the history names the run that did not land');
    t.strictSame((await call(clone, 0, 'fsck')).data.problems, []);
  }
});
