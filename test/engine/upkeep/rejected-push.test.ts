import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import { runLine } from '../../bin/host.ts';
import { outputOf } from '../../starter/run-program.ts';
import { makeSample, sampleSpec } from '../run/sample.ts';
import { closePool } from '../run/shared-pool.ts';

t.test('a change whose push was rejected is sealed, not landed, and can be run again', async (t) => {
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
  t.match((await call(b, 0, 'show', left.run_id)).data.notices, [
    /^sealed, not landed: .*reset --hard origin/,
  ]);

  git(b, 'pull', '-q', '--rebase');
  const rebased = git(b, 'rev-parse', 'HEAD');
  const refused = await call(b, 1, 'verify', rebased);
  t.match(refused.error, {
    code: 'VERIFY_REFUTED',
    details: { check: 'subject-commit', rewritten_from: sealed },
  });
  const advice = (await runLine(['verify', rebased], commands, { cwd: b, env })).err;
  t.match(advice, /not pushed, .*git reset --hard @\{upstream\}/);
  t.match(advice, new RegExp(`pushed, .*\`git revert ${rebased}\`.*run the spec again`));

  git(b, 'reset', '-q', '--hard', 'origin/main');
  const { data: again } = await call(b, 0, 'run', theirs, '--patch', feature);
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
