import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';
import { loadActionsLibrary } from './actions-library.ts';
import { type CiScene, makeCiScene } from './ci-scene.ts';
import { filesBelow, readYaml, runWorkflow, type Workflow } from './run-workflow.ts';

/** A clone without settings of writ, and the command in it. */
async function newUser(t: Test, files: Readonly<Record<string, string>> = {}) {
  const scene = await makeCiScene(t, { waits: false });
  const { clone, env } = scene.person('ana');
  rmSync(join(clone, '.writ'), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(clone, path), text);
  const packed = join(scene.directory, 'writ-9.tgz');
  writeFileSync(packed, 'packed');
  const init = async (...args: readonly string[]) => {
    const { code, out } = await runLine(['ci', 'init', ...args, '--json'], commands, { cwd: clone, env });
    return { code, ...(JSON.parse(out) as { readonly data: Data }) };
  };
  return { scene, clone, env, packed, init };
}

interface Data {
  readonly files: readonly { readonly path: string; readonly status: string }[];
  readonly next: readonly string[];
}

function git(clone: string, env: CiScene['env'], ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('git', args, { cwd: clone, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

const product = {
  'src/sum.js': 'export const sum = (a, b) => a + b;\nexport const product = (a, b) => a * b;\n',
  'test/product.test.js':
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { product } from '../src/sum.js';\ntest('product', () => assert.equal(product(2, 3), 6));\n",
};

t.test('the files for GitHub are valid, and made for the repository', async (t) => {
  const library = await loadActionsLibrary();
  const { clone, packed, init } = await newUser(t, { 'package-lock.json': '{}\n' });
  const { code, data } = await init('github', '--package', packed, '--seal', '--check', 'node --test');
  t.equal(code, 0);
  t.strictSame(
    data.files.map(({ path }) => path),
    [
      ...['writ.yml', 'writ-comment.yml', 'writ-resume.yml'].map((name) => `.github/workflows/${name}`),
      '.github/actions/writ/action.yml',
      '.github/actions/writ/writ-9.tgz',
      '.writ/config.toml',
    ],
  );
  const yaml = filesBelow(join(clone, '.github')).filter((path) => path.endsWith('.yml'));
  for (const path of yaml) {
    const text = readFileSync(path, 'utf8');
    t.strictSame(await library.faults(path, text), [], path);
    if (path.endsWith('action.yml')) continue;
    t.notMatch(text, /OWNER|Copy to|Install what/);
    const steps = Object.values(readYaml<Workflow>(path).jobs).flatMap((job) => job.steps);
    t.equal(steps.at(-1)?.uses, './.github/actions/writ');
    t.ok(steps[0]?.uses?.startsWith('actions/checkout@'), 'an action of the repository needs its files');
  }
});

long('the files for GitHub evaluate a pull request', async (t) => {
  const library = await loadActionsLibrary();
  const { scene, clone, env, packed, init } = await newUser(t, {
    'package-lock.json': '{"lockfileVersion":3,"packages":{}}\n',
  });
  git(clone, env, 'add', 'package-lock.json');
  const { data } = await init('github', '--package', packed, '--seal');
  // The printed step, as it is typed.
  const [step = ''] = data.next;
  const typed = spawnSync('bash', ['-ec', step.slice(step.indexOf('git add'))], { cwd: clone, env });
  t.equal(typed.status, 0, String(typed.stderr));
  git(clone, env, 'checkout', '-qb', 'change');
  for (const [path, text] of Object.entries(product)) writeFileSync(join(clone, path), text);
  git(clone, env, 'add', 'src', 'test');
  git(clone, env, 'commit', '-qm', 'feat: product');
  git(clone, env, 'push', '-q', 'origin', 'change:refs/pull/12/head');
  const head = scene.originGit('rev-parse', 'refs/pull/12/head');
  const pull = {
    number: 12,
    title: 'Add product',
    state: 'open',
    head: { sha: head, repo: { full_name: 'o/r' } },
    base: { ref: 'main', repo: { full_name: 'o/r' } },
  };
  scene.forge.pulls.set(12, pull);
  const end = await runWorkflow(library, join(clone, '.github/workflows/writ.yml'), {
    directory: scene.directory,
    origin: scene.origin,
    token: 'job-token',
    event: { pull_request: pull },
    artifacts: join(scene.directory, 'artifacts'),
    env: {
      ...scene.env,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_API_URL: scene.forge.url,
      GITHUB_RUN_ID: '99',
    },
    contexts: {
      github: { token: 'job-token', repository: 'o/r', event: { pull_request: pull } },
      inputs: {},
      secrets: { WRIT_SIGNING_KEY: '' },
    },
  });
  t.ok(end.ok, end.log);
  t.match(scene.called(), /^npm ci --ignore-scripts$/m);
  t.match(scene.called(), /^npm install .* \.\/\.github\/actions\/writ\/writ-9\.tgz$/m);
  t.match(scene.forge.comments[0]?.body, /^### writ: would seal \(advise mode\)/m, 'and needs no key');
});

t.test('what exists stays, and a link is not written through', async (t) => {
  const { scene, clone, packed, init } = await newUser(t);
  mkdirSync(join(clone, '.writ'));
  writeFileSync(join(clone, '.writ/config.toml'), '# ours\n');
  const statuses = ({ data }: { readonly data: Data }) =>
    Object.fromEntries(data.files.map(({ path, status }) => [path, status]));
  const workflow = '.github/workflows/writ.yml';
  t.match(statuses(await init('github', '--package', packed, '--dry-run')), { [workflow]: 'written' });
  t.strictSame(filesBelow(join(clone, '.github')), [], 'a dry run writes nothing');

  t.match(statuses(await init('github', '--package', packed)), { [workflow]: 'written' });
  writeFileSync(join(clone, workflow), '# changed\n');
  t.match(statuses(await init('github', '--package', packed)), { [workflow]: 'kept' });
  t.equal(readFileSync(join(clone, workflow), 'utf8'), '# changed\n');
  const forced = await init('github', '--package', packed, '--force');
  t.match(statuses(forced), { [workflow]: 'written', '.writ/config.toml': 'kept' });
  t.match(readFileSync(join(clone, workflow), 'utf8'), /^name: writ$/m);
  t.equal(readFileSync(join(clone, '.writ/config.toml'), 'utf8'), '# ours\n');
  t.match(forced.data.next.at(-1), 'mode = "advise" in the table [policy]');

  rmSync(join(clone, '.github'), { recursive: true });
  symlinkSync(join(scene.directory, 'artifacts'), join(clone, '.github'));
  t.match(await init('github', '--package', packed), { code: 129, error: { code: 'OUTPUT_EXISTS' } });
  t.strictSame(filesBelow(join(scene.directory, 'artifacts')), []);
});

t.test('sealing ends the advise mode that was written before', async (t) => {
  const { clone, packed, init } = await newUser(t);
  const config = join(clone, '.writ/config.toml');
  t.match((await runLine(['ci', '--help'], commands)).out, '--onto', 'a command, and the group of `ci init`');
  await init('shell', '--package', packed);
  t.match(readFileSync(config, 'utf8'), 'mode = "advise"');
  t.match((await init('shell', '--seal')).data.next, [/^remove mode = "advise" from/]);
  const { code, data } = await init('shell', '--seal', '--force');
  t.equal(code, 0, 'the packed file is known from before');
  t.match(data.files.at(-1), { path: '.writ/config.toml', status: 'written' });
  t.notMatch(readFileSync(config, 'utf8'), 'advise');
  t.notMatch(data.next.join(), 'advise');
});

t.test('the steps that install are those of the lockfile', async (t) => {
  const { clone, packed, init } = await newUser(t);
  const installs = async (file: string, text = '') => {
    writeFileSync(join(clone, file), text);
    const { data } = await init('shell', '--package', packed, '--dry-run');
    return (data as unknown as { readonly installs: readonly string[] }).installs;
  };
  t.strictSame(await installs('requirements.txt'), [
    'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt pytest',
  ]);
  rmSync(join(clone, 'requirements.txt'));
  const manifest = JSON.stringify({
    packageManager: 'pnpm@11.1.0+sha512.0',
    scripts: { test: 'node --test' },
  });
  writeFileSync(join(clone, 'package.json'), manifest);
  t.strictSame(await installs('pnpm-lock.yaml'), [
    'npm install --global pnpm@11.1.0 && pnpm install --frozen-lockfile --ignore-scripts',
  ]);
});

t.test('people who may approve are written down with their keys', { skip: withoutSshKeygen }, async (t) => {
  const { scene, clone, packed, init } = await newUser(t);
  const key = scene.approverKey;
  const people = ['--approver', `bob@example.org=${key}.pub`, '--approver', `eve@example.org=${key}`];
  t.match(await init('shell', '--package', packed, ...people), { code: 0 });
  const line = (name: string) => `${name} namespaces="writ-approval@v1" ${publicOf(key)}\n`;
  const signers = readFileSync(join(clone, '.writ/allowed_signers'), 'utf8');
  t.equal(signers, line('bob@example.org') + line('eve@example.org'));
  t.match(readFileSync(join(clone, '.writ/owners'), 'utf8'), /^\* bob@example\.org eve@example\.org$/m);
  writeFileSync(join(clone, 'no-key'), 'PRIVATE words\n');
  const bad = await init('shell', '--package', packed, '--approver', 'bob@example.org=no-key');
  t.match(bad, { code: 129, error: { code: 'USAGE' } });
  t.notMatch(JSON.stringify(bad), 'PRIVATE');
});

t.test('what cannot work in a job is refused', async (t) => {
  const { packed, init } = await newUser(t);
  const refused = { code: 129, error: { code: 'USAGE' } };
  t.match(await init(), refused, 'no system is named');
  t.match(await init('jenkins', '--package', packed), refused);
  t.match(await init('github', '--package', './missing.tgz'), refused);
  t.match(await init('github', '--package', 'x"; echo'), refused);
  t.match(await init('github', '--action', 'o/writ@main'), refused, 'a branch moves');
  t.match(await init('github', '--package', packed, '--check', `echo ${'${{'} github.token }}`), refused);
  t.match(await init('github', '--package', packed, '--check', 'a\nb'), refused);
  const elsewhere = `o/writ@${'a'.repeat(40)}`;
  t.match(await init('github', '--action', elsewhere, '--dry-run'), {
    code: 0,
    data: { package: elsewhere },
  });
});

long('the jobs for GitLab and the script are written as a shell reads them', async (t) => {
  const { scene, clone, env, packed, init } = await newUser(t);
  const check = `node -e 'process.exit("a" === "a" ? 0 : 1)'`;
  t.match(await init('gitlab', '--package', packed, '--enforce', '--check', check), { code: 0 });
  t.strictSame(readYaml(join(clone, '.gitlab-ci.yml')), { include: [{ local: 'ci/writ.gitlab-ci.yml' }] });
  const jobs = readYaml<Readonly<Record<string, { readonly script: readonly string[] }>>>(
    join(clone, 'ci/writ.gitlab-ci.yml'),
  );
  git(clone, env, 'add', '-A', '-f');
  git(clone, env, 'commit', '-qm', 'ci: writ');
  git(clone, env, 'push', '-q', 'origin', 'main');
  git(clone, env, 'checkout', '-qb', 'change');
  for (const [path, text] of Object.entries(product)) writeFileSync(join(clone, path), text);
  git(clone, env, 'add', 'src', 'test');
  git(clone, env, 'commit', '-qm', 'feat: product');
  const variables = { CI: 'true', GITLAB_CI: 'true', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' };
  const end = spawnSync('sh', ['-ec', (jobs.writ?.script ?? []).join('\n')], {
    cwd: clone,
    env: { ...env, ...variables },
    encoding: 'utf8',
  });
  t.equal(end.status, 0, end.stderr + end.stdout);
  t.match(end.stdout, check);

  // Without writ on PATH the script installs what was copied beside it.
  const only = join(scene.directory, 'only-npm');
  mkdirSync(only);
  symlinkSync(join(scene.directory, 'bin/npm'), join(only, 'npm'));
  const path = env.PATH?.replace(join(scene.directory, 'bin'), only) ?? '';
  const plain = spawnSync('sh', ['ci/ci.sh', '--onto', 'main', '--check', 'true'], {
    cwd: clone,
    env: { ...env, PATH: path },
    encoding: 'utf8',
  });
  t.equal(plain.status, 0, plain.stderr);
  t.match(scene.called(), /^npm install .* \.\/ci\/writ-9\.tgz$/m);
});
