import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../host.ts';

const env = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

function git(cwd: string, ...args: string[]): void {
  execFileSync('git', args, { cwd, env, stdio: 'ignore' });
}

async function targetOf(cwd: string): Promise<unknown> {
  const { out } = await runLine(['--json', 'spec', 'new'], commands, { cwd, env });
  return JSON.parse(out).data.spec.metadata.target;
}

t.test('a draft names the repository it is made in: its remote or its path, and its branch', async (t) => {
  const cwd = realpathSync(t.testdir({ sub: {} }));
  git(cwd, 'init', '-q', '-b', 'trunk');
  t.strictSame(await targetOf(`${cwd}/sub`), { repo: { type: 'local', locator: cwd }, baseRef: 'trunk' });
  git(cwd, 'remote', 'add', 'origin', 'https://git.example.com/a/b.git');
  t.strictSame(await targetOf(cwd), {
    repo: { type: 'git', locator: 'https://git.example.com/a/b.git' },
    baseRef: 'trunk',
  });
});

t.test('a password in a remote’s URL never gets into a draft', async (t) => {
  const cwd = realpathSync(t.testdir({}));
  git(cwd, 'init', '-q', '-b', 'trunk');
  git(cwd, 'remote', 'add', 'origin', 'https://someone:hunter2@git.example.com/a/b.git');
  const { out } = await runLine(['spec', 'new'], commands, { cwd, env });
  t.notMatch(out, 'hunter2');
  t.strictSame(await targetOf(cwd), { repo: { type: 'local', locator: cwd }, baseRef: 'trunk' });
});

t.test(
  'outside a repository the draft names the directory and says so; with --repo that is an error',
  async (t) => {
    const { code, err } = await runLine(['spec', 'new'], commands, { cwd: '/', env });
    t.equal(code, 0);
    t.match(err, 'not inside a git repository');
    t.equal((await runLine(['--repo', '/', 'spec', 'new'], commands, { cwd: '/', env })).code, 128);
  },
);

t.test('a draft says what a run of it needs besides', async (t) => {
  const cwd = realpathSync(t.testdir({}));
  git(cwd, 'init', '-q', '-b', 'trunk');
  for (const [risk, needs] of [
    ['low', ['rules']],
    ['medium', ['advisories', '1 person', 'rules']],
    ['high', ['advisories', '2 people', 'rules']],
  ] as const) {
    const { out } = await runLine(['spec', 'new', '--risk', risk, '-o', `${risk}.json`], commands, {
      cwd,
      env,
    });
    t.strictSame(
      [...out.matchAll(/^ {2}a run of it needs (\d* ?[a-z]+)/gm)].map(([, need]) => need),
      needs,
      risk,
    );
  }
});
