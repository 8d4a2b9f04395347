import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { everyThird, long } from '../../rooms/long.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

/** A value in the form of a token of GitHub. */
const token = `ghp_${'1a2B3c4D5e'.repeat(4).slice(0, 36)}`;

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const env = { ...sample.env, PATH: `${dirname(process.execPath)}:${sample.env.PATH}` };
  const call = async (...args: readonly string[]) => {
    const { code, out } = await runLine([...args, '--json'], commands, { cwd: sample.root, env });
    return { code, ...(JSON.parse(out) as { data?: { path: string; kept: string | null }; error?: object }) };
  };
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(sample.root, name)), { recursive: true });
    writeFileSync(join(sample.root, name), text);
  };
  const git = (...args: readonly string[]) => {
    const { status, stderr } = spawnSync('git', args, { cwd: sample.root, env, encoding: 'utf8' });
    return { status, stderr };
  };
  return { ...sample, env, call, write, run: git };
}

t.test('pre-commit scans what is staged, after the hook that was there', async (t) => {
  const { root, call, write, run } = scene(t);
  const before = '#!/bin/sh\necho "before: $#" >> "$(git rev-parse --git-dir)/log"\n';
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  write('.git/hooks/pre-commit', before);
  chmodSync(join(root, '.git/hooks/pre-commit'), 0o755);
  t.match(await call('hook', 'install', 'pre-commit', '--dry-run'), { code: 0 });
  t.equal(readFileSync(join(root, '.git/hooks/pre-commit'), 'utf8'), before, 'a dry run writes nothing');
  t.match(await call('hook', 'install', 'pre-commit'), { code: 0, data: { kept: /before-writ$/ } });
  t.match(await call('hook', 'install', 'pre-commit'), { code: 0, data: { kept: null } }, 'once more');
  const own = readFileSync(join(root, '.git/hooks/pre-commit'), 'utf8');
  write('.git/hooks/pre-commit', '#!/bin/sh\n');
  t.match(await call('hook', 'install', 'pre-commit'), { error: { code: 'OUTPUT_EXISTS' } });
  t.equal(readFileSync(join(root, '.git/hooks/pre-commit.before-writ'), 'utf8'), before);
  write('.git/hooks/pre-commit', own);

  const hookRun = async (): Promise<unknown> => (await call('hook', 'run', 'pre-commit')).data;
  const empty = await hookRun();
  t.strictSame([empty, faultsOf('hook run', empty)], [{ scanned: 0 }, []]);
  write('src/a.js', 'export const a = 1;\n');
  run('add', 'src');
  const scanned = await hookRun();
  t.match(scanned, { files: 1, findings: [] });
  t.strictSame(faultsOf('hook run', scanned), []);
  t.equal(run('commit', '-qm', 'fine').status, 0);
  write('src/a.js', `export const a = '${token}';\n`);
  run('add', 'src');
  write('src/a.js', 'export const a = 2;\n');
  const refused = run('commit', '-qm', 'a secret is staged, though the file has none');
  t.equal(refused.status, 1);
  t.match(refused.stderr, /SCAN_FOUND/);
  t.notMatch(refused.stderr, token);
  t.equal(readFileSync(join(root, '.git/log'), 'utf8'), 'before: 0\n'.repeat(2));
  run('reset', '-q', '--hard');
  write('src/a.js', `export const a = '${token}';\n`);
  write('src/other.js', 'export {};\n');
  run('add', 'src/other.js');
  for (const words of everyThird([
    ['-am', 'all'],
    ['-m', 'a file', 'src/a.js'],
    ['--amend', '-am', 'again'],
  ]))
    t.match(run('commit', ...words).stderr, /SCAN_FOUND/, `commit ${words.join(' ')}: an index of its own`);
  write('.git/hooks/pre-commit.before-writ', '#!/bin/sh\nexit 3\n');
  run('add', 'src');
  t.equal(run('commit', '-qm', 'the hook before refuses').status, 1);
  write('.git/hooks/pre-commit.before-writ', before);
  t.match(await call('hook', 'uninstall', 'pre-commit'), { code: 0 });
  t.equal(readFileSync(join(root, '.git/hooks/pre-commit'), 'utf8'), before);
  t.match(await call('hook', 'uninstall', 'pre-commit'), { code: 129 });
});

t.test(
  'commit-msg refuses a message with a token, also with core.hooksPath and in a linked tree',
  async (t) => {
    const { root, git, call, write, run, env } = scene(t);
    git('config', 'core.hooksPath', '.githooks');
    t.match(await call('hook', 'install', 'commit-msg'), {
      code: 0,
      data: { path: join(root, '.githooks/commit-msg') },
    });
    write('src/b.js', 'export {};\n');
    run('add', 'src');
    t.equal(run('commit', '-qm', `with ${token}`).status, 1);
    t.equal(run('commit', '-qm', 'without').status, 0);
    const cut = '# ------------------------ >8 ------------------------';
    write('message', `without\n${cut}\n-${token}\n`);
    t.match(await call('hook', 'run', 'commit-msg', 'message'), { code: 0 }, 'a diff below the message');
    const judge = async (text: string, settings: Readonly<Record<string, string>>, editor = 'vi') => {
      write('message', text);
      for (const [key, value] of Object.entries(settings)) git('config', key, value);
      const argv = ['hook', 'run', 'commit-msg', 'message', '--json'];
      const { code } = await runLine(argv, commands, { cwd: root, env: { ...env, GIT_EDITOR: editor } });
      for (const key of Object.keys(settings)) git('config', '--unset', key);
      return code;
    };
    for (const [text, settings, code, editor] of [
      [`a\n# ${token}\n`, {}, 0],
      [`a\n# ${token}\n`, {}, 1, ':'],
      [`a\n ${token}\n`, {}, 1],
      [`a\n${cut}\n-${token}\n`, {}, 1, ':'],
      ...['whitespace', 'verbatim', 'scissors'].map(
        (mode) => [`a\n# ${token}\n`, { 'commit.cleanup': mode }, 1] as const,
      ),
      [`a\n# ${token}\n`, { 'commit.cleanup': 'strip' }, 0],
      [`a\n${cut}\n-${token}\n`, { 'commit.cleanup': 'scissors' }, 0],
      [`a\n; ${token}\n`, { 'core.commentChar': ';' }, 0],
      [`a\n# ${token}\n`, { 'core.commentChar': ';' }, 1],
      [`a\n// ${token}\n`, { 'core.commentString': '//' }, 0],
      [`# ${token}\n; a hint\n`, { 'core.commentChar': 'auto' }, 1],
      [`# a\n; ${token}\n`, { 'core.commentChar': 'auto' }, 0],
    ] as const)
      t.equal(await judge(text, settings, editor), code, `${text} ${JSON.stringify(settings)}`);
    git('config', '--unset', 'core.hooksPath');
    git('worktree', 'add', '-q', '../linked');
    const linked = join(root, '../linked');
    const { out } = await runLine(['hook', 'install', 'pre-push', '--json'], commands, { cwd: linked });
    t.equal(JSON.parse(out).data.path, join(root, '.git/hooks/pre-push'));
  },
);

long('pre-push scans every commit that the remote does not have', async (t) => {
  const { root, home, git, call, write, run } = scene(t);
  const [remote, empty] = [join(home, 'remote.git'), join(home, 'empty.git')];
  git('clone', '-q', '--bare', '.', remote);
  git('init', '-q', '--bare', empty);
  git('remote', 'add', 'origin', remote);
  git('remote', 'add', 'empty', empty);
  git('fetch', '-q', 'origin');
  t.match(await call('hook', 'install', 'pre-push'), { code: 0 });
  write('src/c.js', 'export const c = 1;\n');
  run('add', 'src');
  run('commit', '-qm', 'fine');
  t.equal(run('push', '-q', 'origin', 'HEAD:refs/heads/topic').status, 0, 'a new branch');
  write('src/c.js', `export const c = '${token}';\n`);
  run('commit', '-q', '--allow-empty', '-m', 'to start the CI');
  t.equal(run('push', '-q', 'origin', 'HEAD:refs/heads/topic').status, 0, 'nothing to scan');
  run('commit', '-qam', 'a secret');
  t.equal(run('push', '-q', 'origin', 'HEAD:refs/heads/topic').status, 1);
  write('src/c.js', 'export const c = 2;\n');
  run('commit', '-qam', 'no secret any more');
  for (const to of ['origin', remote, 'empty'])
    t.match(run('push', '-q', to, 'HEAD:refs/heads/topic').stderr, /SCAN_FOUND/, `its history has it: ${to}`);
  run('push', '-q', '--no-verify', 'origin', 'HEAD:refs/heads/private');
  t.match(run('push', '-q', 'empty', 'HEAD:refs/heads/topic').stderr, /SCAN_FOUND/, 'another remote has it');
  run('checkout', '-q', '--orphan', 'root');
  write('src/c.js', `export const c = '${token}';\n`);
  run('add', 'src');
  run('commit', '-qm', 'without parents');
  git('config', 'log.showRoot', 'false');
  t.equal(run('push', '-q', 'origin', 'HEAD:refs/heads/root').status, 1);
  t.equal(run('push', '-q', 'origin', ':refs/heads/topic').status, 0, 'a branch that goes');
  t.ok(existsSync(join(root, '.git/hooks/pre-push')));
  t.match(await call('hook', 'install', 'post-merge'), { code: 129 });
});

long('pre-push leaves out what the remote brought, and finds what resolving a merge brought', async (t) => {
  const { root, home, git, call, write, run } = scene(t);
  const remote = join(home, 'remote.git');
  git('clone', '-q', '--bare', '.', remote);
  git('remote', 'add', 'origin', remote);
  git('fetch', '-q', 'origin');
  t.match(await call('hook', 'install', 'pre-push'), { code: 0 });
  const commit = (path: string, text: string): void => {
    write(path, text);
    run('add', path);
    run('commit', '-qm', path);
  };
  const push = (branch: string) => run('push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
  run('checkout', '-qb', 'topic');
  commit('src/own.js', 'export const own = 1;\n');
  t.equal(push('topic').status, 0);
  run('checkout', '-q', 'main');
  commit('src/theirs.js', 'eval(process.argv[2]);\n');
  commit('src/both.js', 'export const a = 1;\n');
  run('push', '-q', '--no-verify', 'origin', 'HEAD:refs/heads/main');
  run('checkout', '-q', 'topic');
  commit('src/both.js', 'export const b = 2;\n');
  run('merge', '-q', 'main');
  commit('src/both.js', 'export const a = 1;\nexport const b = 2;\n');
  t.equal(push('topic').status, 0, 'the remote has what others changed');
  run('reset', '-q', '--hard', 'HEAD~1');
  run('merge', '-q', 'main');
  commit('src/both.js', `export const a = '${token}';\n`);
  commit('src/both.js', 'export const a = 1;\n');
  t.match(push('other').stderr, /SCAN_FOUND/, 'a merge brought a secret, and it is gone again');
  run('reset', '-q', '--hard', 'HEAD~2');
  run('merge', '-q', 'main');
  commit('src/both.js', 'export const a = eval(process.argv[3]);\n');
  t.match(push('other').stderr, /SCAN_FOUND/, 'what the merge itself brought');
  t.ok(existsSync(join(root, '.git/hooks/pre-push')));
});
