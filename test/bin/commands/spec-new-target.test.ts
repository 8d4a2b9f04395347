import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { isLong } from '../../rooms/long.ts';
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

t.test('a draft names the remote or path of its repository, and its branch', async (t) => {
  const cwd = realpathSync(t.testdir({ sub: {} }));
  git(cwd, 'init', '-q', '-b', 'trunk');
  t.strictSame(await targetOf(`${cwd}/sub`), { repo: { type: 'local', locator: cwd }, baseRef: 'trunk' });
  git(cwd, 'remote', 'add', 'origin', 'https://git.example.com/a/b.git');
  t.strictSame(await targetOf(cwd), {
    repo: { type: 'git', locator: 'https://git.example.com/a/b.git' },
    baseRef: 'trunk',
  });
});

t.test('a password in a remote URL is left out of the draft', async (t) => {
  const cwd = realpathSync(t.testdir({}));
  git(cwd, 'init', '-q', '-b', 'trunk');
  git(cwd, 'remote', 'add', 'origin', 'https://someone:hunter2@git.example.com/a/b.git');
  const { out } = await runLine(['spec', 'new'], commands, { cwd, env });
  t.notMatch(out, 'hunter2');
  t.strictSame(await targetOf(cwd), { repo: { type: 'local', locator: cwd }, baseRef: 'trunk' });
});

t.test('outside a repository `spec new` prints a note, and with `--repo` it fails', async (t) => {
  const { code, err } = await runLine(['spec', 'new'], commands, { cwd: '/', env });
  t.equal(code, 0);
  t.match(err, 'not inside a git repository');
  t.equal((await runLine(['--repo', '/', 'spec', 'new'], commands, { cwd: '/', env })).code, 128);
});

t.test('a draft proposes the test command of the project, and says where it is from', async (t) => {
  const cwd = realpathSync(t.testdir({ 'go.mod': 'module x\n', sub: {} }));
  git(cwd, 'init', '-q', '-b', 'trunk');
  const { out } = await runLine(['--json', 'spec', 'new'], commands, { cwd: `${cwd}/sub`, env });
  const { acceptance, security } = JSON.parse(out).data.spec;
  t.match(acceptance.verificationPlan.fastChecks, [
    { id: 'unit', kind: 'command', command: 'go test ./...' },
  ]);
  t.match(security.toolAcl.allow, [{ constraints: { allowCommands: ['go test'] } }]);
  const written = await runLine(['spec', 'new', '-o', 'a.json'], commands, { cwd, env });
  t.match(written.out, 'its check is `go test ./...`, from go.mod');
});

t.test('a draft whose project does not say how it is tested has a placeholder, and says so', async (t) => {
  const placeholder =
    'nothing found at the root that says how tests run: the check `node --test` is a placeholder';
  const none = {};
  const python = { 'pyproject.toml': '[project]\nname = "a"\n', tests: { 'test_a.py': '' } };
  const unit = { tests: { 'test_a.py': 'import unittest\nimport calc\n', '__init__.py': '' } };
  const both = { tests: { 'test_a.py': 'import unittest\n', 'test_b.py': 'import pytest\n' } };
  const locked = { 'uv.lock': '#'.repeat(1024 * 1024 + 1), 'conftest.py': '' };
  for (const [files, says, check = ''] of [
    [none, placeholder],
    [{ 'package.json': '{"scripts":{"test":[1]}}' }, placeholder],
    [{ 'package.json': t.fixture('symlink', 'nowhere') }, placeholder],
    [python, '', 'python3 -m pytest --junitxml="$REPORTS_DIR/pytest.xml"`, from the Python tests in `tests`'],
    [unit, '', 'python3 -m unittest`, from the Python tests in `tests`'],
    [both, '', 'python3 -m pytest '],
    [{ ...both, '.venv': { bin: { python: '' } } }, '', '.venv/bin/python -m pytest '],
    [{ ...unit, venv: { bin: { python: '' } } }, '', 'venv/bin/python -m unittest`'],
    [locked, '', 'uv run pytest '],
  ] as const) {
    const cwd = realpathSync(t.testdir(files));
    git(cwd, 'init', '-q', '-b', 'trunk');
    const written = ['spec', 'new', '-o', 'a.json'];
    const lines = [['spec', 'new'], ['--json', 'spec', 'new'], written];
    for (const args of isLong || files === none ? lines : [written]) {
      const { err, out } = await runLine(args, commands, { cwd, env });
      t.equal(err.trim(), says, args.join(' '));
      if (says === '' && args.includes('-o')) t.match(out, `its check is \`${check}`);
    }
  }
});

t.test('`spec new` lists what a run of the draft needs', async (t) => {
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

t.test('a new configuration names what the project could share', async (t) => {
  for (const [files, share] of [
    [{}, '# share = ["node_modules"]\n'],
    [
      { 'pyproject.toml': '', 'uv.lock': '', '.venv': { bin: { python: '' } } },
      '# share = [".venv"]\n# lockfile = "uv.lock"\n',
    ],
  ] as const) {
    const cwd = realpathSync(t.testdir(files));
    git(cwd, 'init', '-q', '-b', 'trunk');
    await runLine(['init'], commands, { cwd, env: { ...env, HOME: cwd } });
    t.ok(readFileSync(`${cwd}/.writ/config.toml`, 'utf8').endsWith(`[workspace]\n${share}`), share);
  }
});
