import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { outputOf } from '../../starter/run-program.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

/** The sample with a bare remote that writes each push that it is offered into a log, one line for each ref. */
function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const bare = join(sample.root, '../remote.git');
  sample.git('clone', '-q', '--bare', sample.root, bare);
  sample.git('remote', 'add', 'origin', bare);
  sample.git('fetch', '-q', 'origin');
  sample.git('branch', '-q', '--set-upstream-to=origin/main');
  const log = join(bare, 'log');
  const onReceive = (more: string): void =>
    writeFileSync(join(bare, 'hooks/pre-receive'), `#!/bin/sh\n{ echo push; cat; } >> ${log}\n${more}\n`, {
      mode: 0o755,
    });
  onReceive('');
  const call = async (...args: readonly string[]) => {
    const { code, out, err } = await runLine([...args, '--json'], commands, {
      cwd: sample.root,
      env: sample.env,
    });
    const { data, error } = JSON.parse(out);
    if (data !== undefined) t.strictSame(faultsOf(args[0] ?? '', data), [], args.join(' '));
    return { code, data, error, text: out + err };
  };
  const stage = (): void => {
    appendFileSync(join(sample.root, 'src/price.js'), '// more\n');
    sample.git('add', 'src');
  };
  const seal = (...more: readonly string[]) => call('seal', '-m', 'chore: more', '--check', 'true', ...more);
  const remote = (): string => outputOf('git', ['-C', bare, 'for-each-ref']).toString();
  const offered = (): readonly string[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  const overtake = (): void => {
    const who = ['-c', 'user.name=B', '-c', 'user.email=b@sample.example'];
    const line = ['-C', bare, ...who, 'commit-tree', '-p', 'main', '-m', 'theirs', 'main^{tree}'];
    const id = outputOf('git', line);
    outputOf('git', ['-C', bare, 'update-ref', 'refs/heads/main', id.toString().trim()]);
  };
  return { ...sample, bare, onReceive, call, stage, seal, remote, offered, overtake };
}

t.test('the sealed commit and its records are one push', async (t) => {
  const { root, git, stage, seal, offered, remote, call } = scene(t);
  stage();
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  writeFileSync(join(root, '.git/hooks/pre-push'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const { code, data } = await seal('--push');
  t.equal(code, 0);
  t.strictSame(data.notices, ['the git hook `pre-push` did not run']);
  const { run_id: run, decision } = data;
  t.match(data.push, { remote: 'origin', branch: 'refs/heads/main', status: 'pushed' });
  const [first, ...refs] = offered();
  t.equal(first, 'push');
  t.notOk(refs.includes('push'), 'there was no second one');
  t.match(remote(), new RegExp(`${decision.commit_sha} commit\trefs/heads/main`));
  for (const kind of ['runs', 'content']) t.match(remote(), `refs/ai/${kind}/${run}`);
  t.equal(refs.length, data.push.refs + 1);
  t.equal(git('rev-parse', 'origin/main'), decision.commit_sha);
  const [listed] = (await call('runs')).data.runs;
  t.match(listed, { run_id: run });
  t.notOk('landed' in listed, 'a run that has not landed says so');
});

t.test('a topic branch that tracks another one is pushed under its own name', async (t) => {
  const { git, stage, seal, bare } = scene(t);
  const main = git('rev-parse', 'HEAD');
  git('switch', '--quiet', '--create', 'topic', '--track', 'origin/main');
  stage();
  const first = (await seal('--push')).data;
  t.match(first.push, { branch: 'refs/heads/topic', status: 'pushed' });
  t.match(first.notices, [
    /`origin\/main` does not hold .* `git push origin [0-9a-f]{40}:refs\/heads\/main`/,
  ]);
  const onRemote = (branch: string): string =>
    outputOf('git', ['-C', bare, 'rev-parse', branch]).toString().trim();
  t.strictSame([onRemote('main'), onRemote('topic')], [main, git('rev-parse', 'HEAD')]);
  t.equal(git('rev-parse', 'origin/topic'), onRemote('topic'));
  if (!isLong) return leaveOut(3);
  git('config', 'push.default', 'upstream');
  stage();
  t.match((await seal('--push')).data.push, { branch: 'refs/heads/main', status: 'pushed' });
  outputOf('git', ['clone', '--quiet', '--bare', bare, `${bare}.fork`]);
  git('remote', 'add', 'fork', `${bare}.fork`);
  git('config', 'remote.pushDefault', 'fork');
  stage();
  const { data } = await seal('--push');
  t.match(data.push, { remote: 'fork', branch: 'refs/heads/topic', status: 'pushed' });
  git('config', 'branch.topic.pushRemote', `${bare}.fork`);
  stage();
  t.match((await seal('--push')).data.push, { branch: 'refs/heads/topic', status: 'pushed' }, 'an address');
});

t.test(
  'a push that would move the default branch, which the branch does not follow, is refused',
  async (t) => {
    const { git, stage, seal, remote } = scene(t);
    git('push', '-q', 'origin', 'main:develop');
    git('remote', 'set-head', 'origin', 'main');
    git('branch', '-q', '--set-upstream-to=origin/develop');
    const before = remote();
    stage();
    t.match((await seal('--push')).error, {
      code: 'PUSH_REJECTED',
      message: '`main` follows `develop`, and a push to `main` would move the default branch of `origin`',
    });
    t.equal(remote(), before);
    git('config', 'push.default', 'upstream');
    t.match((await seal('--push')).data.push, { branch: 'refs/heads/develop', status: 'pushed' });
  },
);

t.test('a rejected push leaves a sealed commit, and can be repeated', async (t) => {
  const { git, stage, seal, remote, call, onReceive } = scene(t);
  const before = remote();
  onReceive('echo "no pushes"; echo "on Mondays" >&2; exit 1');
  stage();
  const { code, data, error } = await seal('--push');
  t.equal(code, 1);
  const reason = /hook declined.*: no pushes on Mondays$/;
  t.match(data, { decision: { type: 'commit' }, push: { status: 'rejected', reason } });
  t.match(error, {
    code: 'PUSH_REJECTED',
    message: /sealed on `main`, not landed: `origin` did not accept it/,
    hints: [new RegExp(`writ resume ${data.run_id} --push`), /git pull --rebase/],
  });
  t.equal(remote(), before, 'not even a record was sent');
  t.equal(git('rev-parse', 'HEAD'), data.decision.commit_sha);
  t.match((await call('show', data.run_id)).data.notices, [/^sealed, not landed/]);
  onReceive('');
  const again = await call('resume', data.run_id, '--push');
  t.match(again, { code: 0, data: { push: { status: 'pushed' } } });
  t.notOk('notices' in again.data);
  t.match(remote(), `refs/ai/runs/${data.run_id}`);
  const whole = remote();
  t.match(await call('resume', data.run_id, '--push'), { code: 0, data: { push: { refs: 0 } } });
  t.equal(remote(), whole);
});

t.test('a commit that does not stand on what the remote has is not pushed', async (t) => {
  const { stage, seal, remote, call, overtake, offered } = scene(t);
  stage();
  const { data } = await seal();
  overtake();
  const before = remote();
  t.match(await call('resume', data.run_id, '--push'), {
    code: 1,
    data: { push: { status: 'rejected', reason: /commits that the sealed commit does not stand on/ } },
  });
  t.equal(remote(), before);
  t.strictSame(offered(), []);
});

t.test('a commit is not pushed without the record of its run', async (t) => {
  const { git, stage, seal, remote, call, bare, offered } = scene(t);
  stage();
  const { data } = await seal();
  const ref = `refs/ai/runs/${data.run_id}`;
  outputOf('git', ['-C', bare, 'update-ref', ref, git('rev-parse', 'origin/main')]);
  const before = remote();
  t.match(await call('resume', data.run_id, '--push'), {
    code: 1,
    data: { push: { status: 'rejected', reason: new RegExp(`^\`${ref}\` cannot go with it`) } },
  });
  t.equal(remote(), before);
  t.strictSame(offered(), []);
});

t.test('a commit that another clone sealed is not pushed from here', async (t) => {
  const { root, env, bare, stage, seal, remote } = scene(t);
  const other = join(root, '../other');
  outputOf('git', ['clone', '-q', bare, other]);
  stage();
  const { data } = await seal('--push');
  const before = remote();
  const call = async (...args: readonly string[]) =>
    JSON.parse((await runLine([...args, '--json'], commands, { cwd: other, env })).out);
  await call('fetch');
  t.match((await call('show', data.run_id)).data.notices, [
    new RegExp(`^sealed, not landed as far as .* sealed commit ${data.decision.commit_sha}.*\`git fetch\``),
  ]);
  t.match((await call('resume', data.run_id, '--push')).error, {
    code: 'PUSH_REJECTED',
    hints: [/`git fetch origin`/],
  });
  t.equal(remote(), before);
  outputOf('git', ['-C', other, 'fetch', '-q']);
  t.equal((await call('show', data.run_id)).data.notices, undefined);
});

t.test('a push that cannot succeed is refused before the work', async (t) => {
  const { git, stage, seal, bare, overtake } = scene(t);
  stage();
  const refused = async (code: number, error: object): Promise<void> => {
    t.match(await seal('--push'), { code, error });
    t.equal(git('for-each-ref', 'refs/ai'), '');
  };
  t.match(await seal('--push', '--no-seal'), { code: 129, error: { code: 'USAGE' } });
  outputOf('git', ['-C', bare, 'config', 'receive.advertiseAtomic', 'false']);
  await refused(128, {
    code: 'PUSH_NOT_ATOMIC',
    message: /`origin`/,
    hints: [/`git push origin` and `writ push origin`/],
  });
  outputOf('git', ['-C', bare, 'config', 'receive.advertiseAtomic', 'true']);
  overtake();
  await refused(1, { code: 'PUSH_REJECTED', hints: [/git pull --rebase/] });
  rmSync(bare, { recursive: true });
  await refused(128, { code: 'REMOTE_FAILED' });
  git('remote', 'remove', 'origin');
  await refused(128, { code: 'REMOTE_UNKNOWN', hints: [/git remote add/] });
});

long('the remote is that of `[landing]`, and no password of its address is printed', async (t) => {
  const { git, root, stage, seal, bare } = scene(t);
  git('remote', 'add', 'trunk', bare);
  mkdirSync(join(root, '.writ'), { recursive: true });
  writeFileSync(join(root, '.writ/config.toml'), '[landing]\nremote = "trunk"\n');
  git('add', '-f', '.writ/config.toml');
  git('commit', '-qm', 'chore: landing');
  stage();
  t.match(await seal('--push'), { code: 0, data: { push: { remote: 'trunk' } } });
  t.equal(git('rev-parse', 'trunk/main'), git('rev-parse', 'HEAD'));
  git('remote', 'set-url', 'trunk', 'http://ana:hunter2@127.0.0.1:1/x.git');
  stage();
  const { code, text } = await seal('--push');
  t.equal(code, 128);
  t.notMatch(text, /hunter2/);
});

t.test('`writ ci` runs no program that the config of the repository names', async (t) => {
  const { git, bare, stage, call, remote } = scene(t);
  git('switch', '-q', '-c', 'fix');
  stage();
  git('commit', '-q', '-m', 'chore: more');
  git('switch', '-q', 'main');
  const mark = join(bare, 'ran');
  const evil = join(bare, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0 $@" >> '${mark}'\nexit 1\n`, { mode: 0o755 });
  for (const key of ['uploadpack', 'receivepack']) git('config', `remote.origin.${key}`, evil);
  const change = ['--onto', 'main', '--head', 'fix', '--check', 'true', '--seal', '--land'];
  const { code, data } = await call('ci', ...change);
  t.match({ code, data }, { code: 0, data: { outcome: 'commit', landed: true } });
  t.match(remote(), `${data.commit} commit\trefs/heads/main`);
  t.notOk(existsSync(mark), existsSync(mark) ? readFileSync(mark, 'utf8') : 'nothing ran');
});
