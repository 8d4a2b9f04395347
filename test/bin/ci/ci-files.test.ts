import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { schemaFaults } from '../../readers/documents/sarif/published-schema.ts';
import { isLong, leaveOut, long } from '../../rooms/long.ts';
import { runLine } from '../host.ts';
import { type ActionsLibrary, loadActionsLibrary } from './actions-library.ts';
import { type CiScene, makeCiScene, policy } from './ci-scene.ts';
import {
  filesBelow,
  type Runner,
  readYaml,
  root,
  runWorkflow,
  type Step,
  type Workflow,
} from './run-workflow.ts';

const library: ActionsLibrary = await loadActionsLibrary();
const workflows = readdirSync(join(root, 'ci/github')).map((name) => `ci/github/${name}`);
const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const product = {
  'src/sum.js': 'export const sum = (a, b) => a + b;\nexport const product = (a, b) => a * b;\n',
  'test/product.test.js': `import assert from 'node:assert';
import test from 'node:test';
import { product } from '../src/sum.js';
test('product', () => assert.equal(product(2, 3), 6));
`,
};

/** A runner with a job token, in a repository whose signing key is a secret. */
function runnerOf(
  scene: CiScene,
  {
    eventName,
    event,
    ...more
  }: { readonly eventName: string; readonly event: object } & Partial<Runner> & {
      readonly inputs?: object;
      readonly secret?: string;
    },
): Runner {
  const { directory, origin, env, forge } = scene;
  const { inputs = {}, secret = signingKey, ...own } = more;
  const artifacts = join(directory, 'artifacts');
  return {
    directory,
    origin,
    token: 'job-token',
    event,
    artifacts,
    env: {
      ...env,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_EVENT_NAME: eventName,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_API_URL: forge.url,
      GITHUB_RUN_ID: '99',
    },
    contexts: {
      github: { action_path: root.replace(/\/$/, ''), token: 'job-token', repository: 'o/r', event },
      inputs,
      secrets: { WRIT_SIGNING_KEY: secret },
    },
    ...own,
  };
}

function pullEvent({ forge }: CiScene) {
  return { eventName: 'pull_request', event: { pull_request: forge.pulls.get(12) } };
}

const statusesOf = ({ forge }: CiScene) =>
  forge.calls.flatMap(({ path, body }) => {
    const [, commit] = /\/statuses\/([0-9a-f]+)$/.exec(path) ?? [];
    return commit === undefined ? [] : [`${body?.context} ${body?.state} ${commit}`];
  });

t.test(
  'the shipped files are valid by the schema of GitHub, and put no expression into a script',
  async (t) => {
    const known =
      /^(?:OWNER\/writ@COMMIT|(?:actions\/(?:checkout|setup-node|upload-artifact|download-artifact)|github\/codeql-action\/upload-sarif)@[0-9a-f]{40})$/;
    for (const name of ['action.yml', ...workflows]) {
      const text = readFileSync(join(root, name), 'utf8');
      t.strictSame(await library.faults(name, text), [], name);
      const steps: readonly Step[] =
        name === 'action.yml'
          ? readYaml<{ readonly runs: { readonly steps: readonly Step[] } }>(name).runs.steps
          : Object.values(readYaml<Workflow>(name).jobs).flatMap((job) => job.steps);
      for (const { run = '', uses } of steps) {
        t.notMatch(run, '${{', `${name}: ${run.slice(0, 40)}`);
        if (uses !== undefined) t.match(uses, known);
      }
    }
    t.strictSame((await library.faults('x.yml', 'on: push\njobz: {}\n')).length > 0, true, 'a fault is seen');
  },
);

t.test(
  'a pull request waits, is approved by the printed command, and lands',
  { skip: withoutSshKeygen },
  async (t) => {
    const scene = await makeCiScene(t);
    const head = scene.propose(product);
    const sarif: string[] = [];
    const uploadSarif = (text: string): void => {
      sarif.push(text);
      throw new Error('Code scanning is not enabled for this repository');
    };
    const first = await runWorkflow(
      library,
      'ci/github/writ.yml',
      runnerOf(scene, { ...pullEvent(scene), changed: { seal: 'true' }, uploadSarif }),
    );
    t.ok(first.ok, first.log);
    t.strictSame(first.steps.slice(2, 6), [
      'Install writ',
      'Sandbox',
      'Run writ',
      'Remove the token and the key',
    ]);
    t.ok(first.steps.includes('!Upload SARIF'), 'without code scanning the job goes on');
    t.strictSame(
      sarif.flatMap((text) => schemaFaults(JSON.parse(text))),
      [],
    );
    t.strictSame(statusesOf(scene), [`writ pending ${head}`]);
    t.equal(first.outputs.outcome, 'wait');
    t.ok(existsSync(join(scene.directory, 'artifacts/writ/run.html')), 'the evidence is an artifact');
    t.strictSame(
      filesBelow(first.home).filter((path) => !path.endsWith('.gitconfig') && /key|pem|cred/.test(path)),
      [],
    );
    t.strictSame(
      filesBelow(first.temp).filter((path) => /credentials|\.pem$/.test(path)),
      [],
    );
    t.notMatch(first.log + readFileSync(join(first.home, '.gitconfig'), 'utf8'), /job-token|PRIVATE KEY/);

    const [comment, ...others] = scene.forge.comments;
    t.strictSame(others, []);
    const [, command = ''] = /```sh\n(.*)\n```/.exec(comment?.body ?? '') ?? [];
    const reviewer = scene.person('rev');
    const sshKey = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'x.y', GIT_CONFIG_VALUE_0: 'z' };
    spawnSync('git', ['config', '--global', 'gpg.format', 'ssh'], { env: reviewer.env });
    spawnSync('git', ['config', '--global', 'user.signingkey', `${scene.approverKey}.pub`], {
      env: reviewer.env,
    });
    cpSync(scene.approverKey, join(reviewer.env.HOME ?? '', 'id'));
    const typed = spawnSync('bash', ['-ec', command], {
      cwd: reviewer.clone,
      env: { ...reviewer.env, ...sshKey },
      encoding: 'utf8',
    });
    t.equal(typed.status, 0, typed.stderr);
    const [, run, pull] =
      /^gh workflow run writ-resume\.yml -f run=(\S+) -f pull=(\d+)$/m.exec(scene.called()) ?? [];

    const event = { inputs: { run, pull } };
    const second = await runWorkflow(
      library,
      'ci/github/writ-resume.yml',
      runnerOf(scene, { eventName: 'workflow_dispatch', event, inputs: { run, pull } }),
    );
    t.ok(second.ok, second.log);
    t.match(second.outputs, { outcome: 'commit', 'run-id': run });
    const sealed = scene.originGit('rev-parse', 'main');
    t.equal(sealed, second.outputs.commit);
    t.match(
      scene.originGit('log', '-1', '--format=%an %cn %B', 'main'),
      new RegExp(`^dev github-actions.*Run-Id: ${run}`, 's'),
    );
    t.strictSame(statusesOf(scene).slice(1), [`writ success ${sealed}`, `writ success ${head}`]);
    t.strictSame(
      scene.forge.comments.map(({ body }) => body.includes(`Landed on \`main\` as ${sealed}`)),
      [true],
    );
    t.match(scene.forge.calls.at(-1), {
      method: 'PATCH',
      path: '/repos/o/r/pulls/12',
      body: { state: 'closed' },
    });
    t.strictSame(scene.originGit('for-each-ref', '--format=%(refname)', 'refs/heads'), 'refs/heads/main');

    const verifier = scene.person('verifier');
    const writ = (...args: readonly string[]) =>
      spawnSync('writ', args, { cwd: verifier.clone, env: verifier.env, encoding: 'utf8' });
    t.equal(writ('fetch').status, 0);
    writeFileSync(join(scene.directory, 'pub.pem'), signingKeyPublic());
    t.match(
      writ('verify', sealed, '--key', join(scene.directory, 'pub.pem')),
      { status: 0 },
      'anyone can verify it',
    );
  },
);

function signingKeyPublic(): string {
  return spawnSync('openssl', ['pkey', '-pubout'], { input: signingKey, encoding: 'utf8' }).stdout;
}

t.test('a pull request without approvals', async (t) => {
  const scene = await makeCiScene(t, { waits: false });
  const head = scene.propose(product);

  await t.test('is only evaluated by the workflow as it is shipped, without a key', async (t) => {
    const end = await runWorkflow(
      library,
      'ci/github/writ.yml',
      runnerOf(scene, { ...pullEvent(scene), secret: '' }),
    );
    t.ok(end.ok, end.log);
    t.strictSame(statusesOf(scene), [`writ success ${head}`]);
    t.match(scene.forge.comments.at(-1)?.body, /^<!-- writ -->\n### writ: Would be sealed\n/);
    t.equal(scene.originGit('for-each-ref', 'refs/ai'), '');
  });

  if (!isLong) return leaveOut(2);
  await t.test('is sealed, not landed, and its comment is replaced', async (t) => {
    const changed = { seal: 'true' };
    const end = await runWorkflow(
      library,
      'ci/github/writ.yml',
      runnerOf(scene, { ...pullEvent(scene), changed }),
    );
    t.ok(end.ok, end.log);
    const [comment, ...others] = scene.forge.comments;
    t.strictSame(others, []);
    const [, command = ''] = /```sh\n(.*)\n```/.exec(comment?.body ?? '') ?? [];
    const { clone, env } = scene.person('maintainer');
    t.equal(spawnSync('bash', ['-ec', command], { cwd: clone, env }).status, 0, command);
    t.equal(scene.originGit('rev-parse', 'main'), end.outputs.commit);
  });

  await t.test('fails the job where there is no key, and says so', async (t) => {
    scene.propose({ 'src/other.js': 'export const other = 1;\n' }, 'chore: other');
    const changed = { seal: 'true' };
    const end = await runWorkflow(
      library,
      'ci/github/writ.yml',
      runnerOf(scene, { ...pullEvent(scene), changed, secret: '' }),
    );
    t.notOk(end.ok);
    t.match(end.log, /SIGNER_EPHEMERAL/);
    t.match(statusesOf(scene).at(-1), /^writ failure /);
    t.match(scene.forge.comments[0]?.body, /SIGNER\\_EPHEMERAL/);
  });
});

t.test('a policy that only advises holds no change back, whatever starts the job', async (t) => {
  const scene = await makeCiScene(t, { config: `[policy]\nmode = "advise"\n${isLong ? policy : ''}` });
  const head = scene.propose({ 'src/sum.js': 'export const sum = (a, b) => eval("a + b");\n' });
  const { clone, env } = scene.person('job');
  const temp = join(scene.directory, 'temp');
  mkdirSync(temp);
  const event = join(scene.directory, 'event.json');
  const writeEvent = (value: object): void => writeFileSync(event, JSON.stringify(value));
  const github = {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'o/r',
    GITHUB_TOKEN: 't',
    GITHUB_API_URL: scene.forge.url,
    GITHUB_EVENT_PATH: event,
    RUNNER_TEMP: temp,
  };
  const ofPull = { ...github, GITHUB_EVENT_NAME: 'pull_request' };
  const job = async (line: readonly string[], given: Readonly<Record<string, string>>) => {
    const place = { cwd: clone, env: { ...env, ...given } };
    const { code, out } = await runLine(['ci', ...line, '--seal', '--land', '--json'], commands, place);
    return { code, data: (JSON.parse(out) as { readonly data: Record<string, unknown> }).data };
  };
  const words = 'would refuse: 1 finding (advise mode)';
  const pull = scene.forge.pulls.get(12);
  if (pull === undefined) return;

  writeEvent({ pull_request: pull });
  const own = await job([], ofPull);
  t.match(own, { code: 0, data: { would: 'abandon', posted: true, landed: false, commit: undefined } });
  t.match(scene.forge.calls[0], {
    path: `/repos/o/r/statuses/${head}`,
    body: { state: 'success', description: words },
  });
  t.match(scene.forge.comments[0]?.body, `### writ: ${words}`);
  t.equal(scene.originGit('for-each-ref', 'refs/ai'), '');
  // The second workflow posts what the job of a fork reports.
  writeEvent({ workflow_run: { head_sha: head } });
  await runLine(['ci-comment', String(own.data.reports)], commands, {
    cwd: scene.directory,
    env: { ...env, ...github },
  });
  t.match(scene.forge.comments[0]?.body, `> **Claimed: ${words}**`);
  if (!isLong) return;

  await t.test('a job of a fork', async (t) => {
    writeEvent({ pull_request: { ...pull, head: { ...pull.head, repo: { full_name: 'stranger/r' } } } });
    t.match(await job([], ofPull), { code: 0, data: { would: 'abandon', posted: false } });
  });
  await t.test('a maintainer', async (t) => {
    const end = await job(['--pull', '12', '--head', head], github);
    t.match(end, { code: 0, data: { would: 'abandon', posted: true, landed: false } });
    t.equal(scene.originGit('for-each-ref', '--format=%(refname)', 'refs/heads'), 'refs/heads/main');
  });
  await t.test('GitLab', async (t) => {
    const variables = {
      CI: 'true',
      GITLAB_CI: 'true',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_COMMIT_SHA: head,
    };
    t.match(await job([], variables), { code: 0, data: { would: 'abandon' } });
  });
  await t.test('a change that would wait for people', async (t) => {
    const sha = scene.propose(product);
    t.match(await job(['--pull', '12', '--head', sha], github), { code: 0, data: { would: 'wait' } });
    t.match(statusesOf(scene).at(-1), `writ success ${sha}`);
    t.notMatch(scene.forge.comments[0]?.body, 'gh workflow run');
  });
});

t.test('a job for Dependabot evaluates only, and what is no name of a branch is refused', async (t) => {
  const scene = await makeCiScene(t, { waits: false });
  scene.propose(product);
  const { clone, env } = scene.person('job');
  const path = join(scene.directory, 'event.json');
  const job = async (onto: string) => {
    const pull = scene.forge.pulls.get(12);
    const event = { pull_request: { ...pull, base: { ...pull?.base, ref: onto } } };
    writeFileSync(path, JSON.stringify(event));
    const given = {
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: path,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_ACTOR: 'dependabot[bot]',
      GITHUB_TOKEN: 't',
      GITHUB_API_URL: scene.forge.url,
    };
    const place = { cwd: clone, env: { ...env, ...given } };
    const { code, out } = await runLine(['ci', '--seal', '--json'], commands, place);
    return { code, ...(JSON.parse(out) as object) };
  };
  t.match(await job('main'), { code: 0, data: { outcome: 'commit', would: 'commit', posted: false } });
  t.strictSame(scene.forge.calls, []);
  t.match(await job('main:refs/heads/other'), { code: 129, error: { code: 'REF_INVALID' } });
});

t.test('what a maintainer starts for a pull request is about the commit that was reviewed', async (t) => {
  const scene = await makeCiScene(t, { waits: false });
  const head = scene.propose(product);
  const { clone, env } = scene.person('job');
  const git = (...args: readonly string[]): string =>
    spawnSync('git', args, { cwd: clone, env, encoding: 'utf8' }).stdout.trim();
  const given = { GITHUB_REPOSITORY: 'o/r', GITHUB_TOKEN: 't', GITHUB_API_URL: scene.forge.url };
  const place = { cwd: clone, env: { ...env, ...given } };
  const call = async (...args: readonly string[]) => {
    const { code, out } = await runLine(['ci', ...args, '--json'], commands, place);
    return { code, ...(JSON.parse(out) as object) };
  };
  const { err } = await runLine(['show', '##[set-output name=reports]/etc'], commands, {
    cwd: clone,
    env: { ...env, GITHUB_ACTIONS: 'true' },
  });
  t.match(err, '## [set-output', 'no command of the runner');
  const refused = { code: 129, error: { code: 'USAGE' } };
  t.match(await call('--pull', '12', '--seal', '--land'), refused);
  t.match(await call('--pull', '12', '--head', '0'.repeat(40), '--seal', '--land'), refused);
  const pull = scene.forge.pulls.get(12);
  if (pull) scene.forge.pulls.set(12, { ...pull, state: 'closed' });
  t.match(await call('--pull', '12', '--head', head), { code: 129, error: { message: /is closed/ } });
  // Commits that only this clone has stay on its branch.
  git('checkout', '-q', '--detach');
  git('commit', '-q', '--allow-empty', '-m', 'not pushed');
  git('branch', '-f', 'main', 'HEAD');
  git('checkout', '-q', '--detach', 'origin/main');
  const own = git('rev-parse', 'main');
  t.match(await call('--onto', 'main', '--head', head), { code: 1, error: { code: 'TARGET_MOVED' } });
  t.equal(git('rev-parse', 'main'), own);
});

long(
  'a job that may not set the status fails while the change waits, and names the permission',
  async (t) => {
    const scene = await makeCiScene(t);
    scene.propose(product);
    scene.forge.refuse(/\/statuses\//, 403);
    const changed = { seal: 'true' };
    const end = await runWorkflow(
      library,
      'ci/github/writ.yml',
      runnerOf(scene, { ...pullEvent(scene), changed }),
    );
    t.notOk(end.ok, 'exit 4');
    t.match(end.log, /permissions: statuses: write/);
  },
);

long('a run whose pull request has moved on is not gone on with', async (t) => {
  const scene = await makeCiScene(t);
  scene.propose(product);
  const changed = { seal: 'true' };
  const first = await runWorkflow(
    library,
    'ci/github/writ.yml',
    runnerOf(scene, { ...pullEvent(scene), changed }),
  );
  const run = first.outputs['run-id'];
  scene.propose({ 'src/other.js': 'export const other = 1;\n' }, 'chore: other');
  const calls = scene.forge.calls.length;
  const inputs = { run, pull: '12' };
  const end = await runWorkflow(
    library,
    'ci/github/writ-resume.yml',
    runnerOf(scene, { eventName: 'workflow_dispatch', event: { inputs }, inputs }),
  );
  t.notOk(end.ok);
  t.match(end.log, /RUN_NOT_RESUMABLE: run `.*` is about [0-9a-f]{40} for `main`/);
  t.equal(scene.forge.calls.length, calls, 'no status of the new commit is set');
});

long('a pull request of a fork', async (t) => {
  const scene = await makeCiScene(t);
  scene.propose({ ...product, 'src/[x](http://evil.example).js': 'export const x = eval("1");\n' });
  const pull = scene.forge.pulls.get(12);
  if (pull === undefined) return;
  pull.head.repo = { full_name: 'stranger/r' };
  const run = await runWorkflow(
    library,
    'ci/github/writ.yml',
    runnerOf(scene, { ...pullEvent(scene), changed: { seal: 'true' }, secret: '' }),
  );
  t.notOk(run.ok, 'direct execution is refused');
  t.strictSame(scene.forge.calls, [], 'its job writes nothing');
  t.equal(scene.originGit('for-each-ref', 'refs/ai'), '');
  const workflowRun = {
    id: 7,
    event: 'pull_request',
    head_sha: pull.head.sha,
    head_repository: { full_name: 'stranger/r' },
    actor: { login: 'stranger' },
  };
  const comment = (change: object = {}) =>
    runWorkflow(
      library,
      'ci/github/writ-comment.yml',
      runnerOf(scene, { eventName: 'workflow_run', event: { workflow_run: { ...workflowRun, ...change } } }),
    );

  await t.test('gets its comment from the second workflow', async (t) => {
    t.match(await comment(), { ok: true });
    const body = scene.forge.comments[0]?.body ?? '';
    t.match(body, /^<!-- writ -->\n### writ: not verified\n/);
    t.match(body, 'nothing vouches for it');
    t.match(body, '> **Claimed: Would be refused**');
    t.match(body, `gh workflow run writ-resume.yml -f pull=12 -f commit=${pull.head.sha}`);
    t.notMatch(body, '](http');
    t.strictSame(statusesOf(scene), [], 'and no status');
  });

  await t.test('decides nothing by its artifact, however it looks', async (t) => {
    const [reports, event] = [join(scene.directory, 'artifacts/writ'), join(scene.directory, 'event.json')];
    writeFileSync(event, JSON.stringify({ workflow_run: workflowRun }));
    const env = {
      GITHUB_EVENT_PATH: event,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_TOKEN: 't',
      GITHUB_API_URL: scene.forge.url,
    };
    const again = () => runLine(['ci-comment', reports], commands, { cwd: scene.directory, env });
    const path = join(reports, 'summary.json');
    const good = JSON.parse(readFileSync(path, 'utf8'));
    const finding = {
      rule: '@everyone',
      severity: 'error',
      message: '<img src=x> @octocat '.repeat(40),
      path: 'a\n## b',
    };
    const findings = Array.from({ length: 50 }, () => finding);
    const text = { summary: '<script>@o/r</script>', run_id: '`x` @y', would: false };
    writeFileSync(path, JSON.stringify({ ...good, ...text, outcome: 'commit', findings, hidden: 5 }));
    t.match(await again(), { code: 0 });
    const body = scene.forge.comments[0]?.body ?? '';
    t.notMatch(body, /@everyone|@octocat|<script|<img|^## b/m);
    t.match(body, /^<!-- writ -->\n### writ: not verified\n/);
    t.match(body, '> **Claimed: Would be sealed**', 'a job of a fork seals nothing');
    const [ours = '', ...theirs] = body.split(/^(?=> )/m);
    t.notMatch(ours, /[Ss]ealed/);
    t.equal(
      theirs
        .join('')
        .split('\n\n')[0]
        ?.match(/^(?!>)/gm),
      null,
      'all of it is quoted',
    );
    t.match(body, /and at least \d+ more findings/);
    t.ok(body.length < 65_536);
    t.equal(scene.forge.comments.length, 1);
    t.strictSame(statusesOf(scene), []);
    for (const bad of [
      '{',
      '[]',
      JSON.stringify({ ...good, pull: 1 }),
      JSON.stringify({ ...good, findings: 'x' }),
    ]) {
      writeFileSync(path, bad);
      t.match(await again(), { code: 129, err: /INPUT_UNREADABLE/ }, bad.slice(0, 20));
    }
    writeFileSync(path, JSON.stringify(good));
    scene.forge.comments.splice(0, 1, { id: 1, body: '<!-- writ --> of the author', user: { type: 'User' } });
    t.match(await again(), { code: 0 });
    t.equal(scene.forge.comments[0]?.body, '<!-- writ --> of the author', 'a comment of a person stays');
    t.equal(scene.forge.comments.length, 2);
  });

  await t.test('is sealed by a maintainer, with the rights of the repository', async (t) => {
    scene.propose(product);
    const fork = scene.forge.pulls.get(12);
    if (fork) fork.head.repo = { full_name: 'stranger/r' };
    const inputs = { run: '', pull: '12', commit: fork?.head.sha };
    const end = await runWorkflow(
      library,
      'ci/github/writ-resume.yml',
      runnerOf(scene, { eventName: 'workflow_dispatch', event: { inputs }, inputs }),
    );
    t.ok(end.ok, end.log);
    t.match(statusesOf(scene).at(-1), /^writ pending /);
  });

  await t.test('of this repository gets none from it', async (t) => {
    t.match(await comment({ head_repository: { full_name: 'o/r' } }), { steps: ['skipped'] });
  });
});

long('writ is installed from a package, and bubblewrap where it is missing', async (t) => {
  const scene = await makeCiScene(t, { waits: false });
  scene.propose(product);
  const changed = { package: './writ-1.0.0.tgz', check: 'node --test\n\nnode -e 1\n', risk: 'low' };
  const end = await runWorkflow(
    library,
    'ci/github/writ.yml',
    runnerOf(scene, { ...pullEvent(scene), changed }),
  );
  t.ok(end.ok, end.log);
  t.match(scene.called(), /^npm install --prefix \S+ --ignore-scripts .*\.\/writ-1\.0\.0\.tgz$/m);
  t.match(JSON.parse(readFileSync(join(scene.directory, 'artifacts/writ/summary.json'), 'utf8')), {
    stages: [{ stage: 'fast', expected: 2, ran: 2 }],
  });
  const [, sandbox] = readYaml<{ readonly runs: { readonly steps: readonly Step[] } }>('action.yml').runs
    .steps;
  const bin = join(scene.directory, 'bin');
  const without = spawnSync('/bin/bash', ['-e', '-o', 'pipefail', '-c', sandbox?.run ?? ''], {
    env: { PATH: bin },
    encoding: 'utf8',
  });
  t.equal(without.status, 0, without.stderr);
  t.match(scene.called(), /^sudo apt-get install -qq --yes --no-install-recommends bubblewrap$/m);
});

long('GitLab CI and a plain shell', async (t: Test) => {
  const scene = await makeCiScene(t);
  const head = scene.propose(product);
  type Job = {
    readonly script: readonly string[];
    readonly after_script: readonly string[];
    readonly before_script: readonly string[];
  };
  const jobs = readYaml<Readonly<Record<string, Job>>>('ci/gitlab.yml');
  const runner = (name: string) => {
    const { clone, env } = scene.person(name);
    mkdirSync(join(clone, 'ci'));
    cpSync(join(root, 'ci/ci.sh'), join(clone, 'ci/ci.sh'));
    spawnSync('git', ['fetch', '-q', 'origin', 'refs/pull/12/head'], { cwd: clone, env });
    spawnSync('git', ['checkout', '-q', '--detach', head], { cwd: clone, env });
    const variables = {
      CI: 'true',
      GITLAB_CI: 'true',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_COMMIT_SHA: head,
      WRIT_SIGNING_KEY: signingKey,
    };
    const shell = (lines: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      spawnSync('sh', ['-ec', lines.join('\n')], {
        cwd: clone,
        env: { ...env, ...variables, ...more },
        encoding: 'utf8',
      });
    return { clone, shell, home: env.HOME ?? '' };
  };

  await t.test('credentials are in a file of the user alone', async (t) => {
    const { shell, home } = runner('prepared');
    const [, second = ''] = jobs['.writ']?.before_script ?? [];
    const variables = {
      WRIT_TOKEN: 'secret',
      CI_SERVER_HOST: 'gitlab.example',
      CI_PROJECT_URL: 'https://gitlab.example/o/r',
    };
    t.equal(shell([second], variables).status, 0);
    t.equal(statSync(join(home, '.writ-credentials')).mode & 0o077, 0);
    t.notMatch(readFileSync(join(home, '.gitconfig'), 'utf8'), 'secret');
  });

  await t.test('a merge request waits, is approved, and lands', { skip: withoutSshKeygen }, async (t) => {
    const { clone, shell, home } = runner('gitlab');
    const [script = ''] = jobs.writ?.script ?? [];
    const first = shell([`${script} --seal`]);
    t.equal(first.status, 4, first.stderr);
    t.notOk(existsSync(join(home, '.config')), 'the key is gone');
    t.equal(shell(jobs.writ?.after_script ?? []).status, 0);
    for (const name of ['code-quality.json', 'junit.xml', 'writ.env'])
      t.ok(existsSync(join(clone, name)), name);
    const [, run = ''] = /^WRIT_RUN=(\S+)$/m.exec(readFileSync(join(clone, 'writ.env'), 'utf8')) ?? [];
    t.match(first.stdout, `writ approve ${run} --remote origin\n`);
    t.match(first.stdout, `writ ci --resume ${run} --land\n`);
    t.notMatch(first.stderr, 'writ resume', 'a person here would seal with a key of their own');
    const { clone: desk, env } = scene.person('rev');
    const approve = ['approve', run, '--remote', 'origin', '--key', scene.approverKey];
    const approved = spawnSync('writ', approve, { cwd: desk, env, encoding: 'utf8' });
    t.equal(approved.status, 0);
    t.match(approved.stdout, `in CI: writ ci --resume ${run} --land;`);
    const resumed = runner('later').shell(jobs['writ-resume']?.script ?? [], { WRIT_RUN: run });
    t.equal(resumed.status, 0, resumed.stderr);
    t.match(scene.originGit('log', '-1', '--format=%B', 'main'), `Run-Id: ${run}`);
  });

  await t.test('a plain shell installs writ, and names the change itself', async (t) => {
    const { clone, env } = scene.person('plain');
    const path = env.PATH?.replace(join(scene.directory, 'bin'), join(scene.directory, 'only-npm')) ?? '';
    mkdirSync(join(scene.directory, 'only-npm'));
    cpSync(join(scene.directory, 'bin/npm'), join(scene.directory, 'only-npm/npm'));
    writeFileSync(join(clone, 'new.txt'), 'new\n');
    for (const args of [
      ['checkout', '-qb', 'new'],
      ['add', '-A'],
      ['commit', '-qm', 'docs: new'],
    ])
      spawnSync('git', args, { cwd: clone, env });
    const plain = (more: Readonly<Record<string, string>>) =>
      spawnSync('sh', [join(root, 'ci/ci.sh'), '--onto', 'main', '--check', 'true'], {
        cwd: clone,
        env: { ...env, PATH: path, ...more },
        encoding: 'utf8',
      });
    t.match(plain({}), { status: 2, stderr: /WRIT_PACKAGE/ });
    const end = plain({ WRIT_PACKAGE: 'writ.tgz' });
    t.equal(end.status, 0, end.stderr);
    t.match(end.stdout, /Would wait for a person/);
  });
});

long(
  'a clone that is kept between jobs has the records of others before it pushes its own',
  { skip: withoutSshKeygen },
  async (t) => {
    const scene = await makeCiScene(t, { config: `${policy}\n[approvals]\ncarry = "equivalent"\n` });
    const [kept, other] = [scene.person('kept'), scene.person('rev')];
    const start = ({ clone, env }: typeof kept, ...line: readonly string[]) =>
      spawnSync(line[0] ?? '', line.slice(1), { cwd: clone, env, encoding: 'utf8' });
    const evaluate = (name: string) => {
      start(kept, 'git', 'fetch', '-q');
      start(kept, 'git', 'checkout', '-qB', name, 'origin/main');
      writeFileSync(join(kept.clone, `${name}.txt`), name);
      start(kept, 'git', 'add', '-A');
      start(kept, 'git', 'commit', '-qm', `docs: ${name}`);
      const job = start(kept, 'writ', 'ci', '--onto', 'main', '--seal', '--land', '--check', 'true');
      t.equal(job.status, 4, job.stderr);
      const [, run = ''] = /writ approve (\S+) --remote origin$/m.exec(job.stdout) ?? [];
      return run;
    };
    const run = evaluate('one');
    const approve = ['approve', run, '--remote', 'origin', '--key', scene.approverKey];
    t.equal(start(other, 'writ', ...approve).status, 0);
    start(other, 'git', 'switch', '-q', '--detach');
    moveOnce(scene);
    const late = start(other, 'writ', 'ci', '--resume', run, '--land');
    t.equal(late.status, 1, late.stderr);
    t.match(late.stderr, /PUSH_REJECTED: not landed: `main` of `origin`/);
    t.equal(scene.originGit('branch', '--list', 'writ/*'), '');
    const again = start(other, 'writ', 'ci', '--resume', run, '--land');
    t.equal(again.status, 0, again.stderr);
    t.not(evaluate('two'), '');
  },
);

long('jobs on fresh clones continue one log, where they are given its key', async (t) => {
  const scene = await makeCiScene(t, { config: '[log]\nmirror = "git"\n' });
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  for (const name of ['first', 'second', 'third']) {
    const { clone, env } = scene.person(name);
    const keys = join(env.HOME ?? '', '.config/writ/keys');
    mkdirSync(keys, { recursive: true, mode: 0o700 });
    writeFileSync(join(keys, 'ledger.pem'), key, { mode: 0o600 });
    const run = (...line: readonly string[]) =>
      spawnSync(line[0] ?? '', line.slice(1), { cwd: clone, env, encoding: 'utf8' });
    run('git', 'checkout', '-qb', name);
    writeFileSync(join(clone, `${name}.txt`), name);
    run('git', 'add', '-A');
    run('git', 'commit', '-qm', `docs: ${name}`);
    const spec = join(scene.directory, `${name}.json`);
    const made = run(
      'writ',
      'spec',
      'new',
      '--risk',
      'low',
      '--change-type',
      'docs',
      '--summary',
      name,
      '--scope',
      './',
      '--check',
      'true',
      '-o',
      spec,
    );
    t.equal(made.status, 0, made.stderr);
    const document = JSON.parse(readFileSync(spec, 'utf8'));
    document.lifecycle.status = 'active';
    document.provenance.transparencyLog = { mode: 'internal-ledger' };
    document.artifacts.required.push({ name: 'transparency-proof', stage: 'release', required: true });
    writeFileSync(spec, JSON.stringify(document));
    const ofCi = ['ci', '--onto', 'main', '--seal', '--land', '--spec', spec];
    const byHand = ['run', spec, '--range', `main..${name}`, '--onto', 'main', '--push'];
    const job = run('writ', ...(name === 'third' ? byHand : ofCi));
    t.equal(job.status, 0, job.stdout + job.stderr);
    if (name !== 'first') t.match(job.stderr, /first `refs\/ai\/backup\/v1`.*: they stay as they are here/);
    // A ref that is no record holds no job back.
    scene.originGit(
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@y.z',
      'tag',
      '-f',
      '-a',
      'v1',
      '-m',
      'v1',
      'main',
    );
    scene.originGit('update-ref', 'refs/ai/backup/v1', scene.originGit('rev-parse', 'refs/tags/v1'));
  }
  const logs = scene.originGit('for-each-ref', '--format=%(refname)', 'refs/ai/ledger').split('\n');
  t.equal(logs.length, 1, 'one log');
  t.match(scene.originGit('show', `${logs[0]}:checkpoint`), /^\S+\n3\n/, 'with the entries of all');
});

/** The next sealed commit that arrives at the origin finds there that `main` has moved on. */
function moveOnce({ origin, originGit }: CiScene): void {
  const tree = originGit('rev-parse', 'main^{tree}');
  const next = originGit(
    '-c',
    'user.name=x',
    '-c',
    'user.email=x@example.org',
    'commit-tree',
    tree,
    '-p',
    'main',
    '-m',
    'docs: meanwhile',
  );
  const hook = join(origin, 'hooks', 'post-receive');
  writeFileSync(
    hook,
    `#!/bin/sh\ngrep -q refs/heads/writ/ || exit 0\nrm "$0"; git update-ref refs/heads/main ${next}\n`,
  );
  chmodSync(hook, 0o755);
}

long('a job whose branch moves on meanwhile lands nothing, and the next one does', async (t) => {
  const scene = await makeCiScene(t, { waits: false });
  const { clone, env } = scene.person('kept');
  const run = (...line: readonly string[]) =>
    spawnSync(line[0] ?? '', line.slice(1), { cwd: clone, env, encoding: 'utf8' });
  run('git', 'switch', '-qc', 'one');
  writeFileSync(join(clone, 'one.txt'), 'one');
  run('git', 'add', '-A');
  run('git', 'commit', '-qm', 'docs: one');
  run('git', 'branch', '-qD', 'main');
  run('git', 'remote', 'rename', 'origin', 'upstream');
  moveOnce(scene);
  const job = ['writ', 'ci', '--onto', 'main', '--seal', '--land', '--check', 'true'];
  const late = run(...job);
  t.equal(late.status, 1, late.stderr);
  t.match(late.stderr, /PUSH_REJECTED: not landed: `main` of `upstream`/);
  t.notMatch(late.stdout, /Committed/);
  const landed = run(...job);
  t.equal(landed.status, 0, landed.stderr);
  t.equal(scene.originGit('log', '-2', '--format=%s', 'main'), 'docs: one\ndocs: meanwhile');
});
