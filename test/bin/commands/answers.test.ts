import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openUserLedgerKey, openUserSigningKey } from '../../../attest/keys/key-signer.ts';
import { commands } from '../../../bin/command-table.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { startS3 } from '../../plugins/store/fault-proxy.ts';
import { long } from '../../rooms/long.ts';
import { asksForTwo } from '../asks-for-two.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-answers-')));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const repo = join(root, 'repo');
mkdirSync(join(root, 'home'));
mkdirSync(repo);
writeFileSync(join(repo, 'a.txt'), 'one\n');
const env = {
  PATH: process.env.PATH ?? '',
  HOME: join(root, 'home'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repo, env, encoding: 'utf8' });
}

interface Answer {
  readonly code: number;
  readonly ok: boolean;
  readonly data: {
    readonly run_id?: string;
    readonly decision?: { readonly commit_sha?: string };
    readonly runs?: readonly unknown[];
  };
  readonly error?: { readonly code: string };
}

/** Runs a line in the repository and checks the shape of what it answered. */
async function answer(...argv: string[]): Promise<Answer> {
  const { code, out } = await runLine(['--json', ...argv], commands, { cwd: repo, env });
  const document = JSON.parse(out);
  t.strictSame(
    faultsOf(document.command, document.data),
    [],
    `${argv.join(' ')} has the shape that is promised`,
  );
  t.equal(document.ok, code === 0);
  t.equal('error' in document, code !== 0);
  return { code, ...document };
}

const spec = sampleSpecWith({
  metadata: { target: { repo: { type: 'local', locator: repo } } },
  ...asksForTwo,
});

git('init', '-q', '-b', 'main');
git('add', '.');
git('commit', '-q', '-m', 'first');
writeFileSync(join(root, 'spec.json'), JSON.stringify(spec));
writeFileSync(join(root, 'good.patch'), '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n');
writeFileSync(join(root, 'bad.patch'), '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+three\n');

const { data: health, code: healthy } = await runLine(['--json', 'doctor'], commands, {
  cwd: repo,
  env,
}).then(({ code, out }) => ({ code, ...JSON.parse(out) }));
t.strictSame(faultsOf('doctor', health), [], 'doctor has the shape that is promised');
t.match(
  (health.checks as readonly Diagnosis[]).find(({ id }) => id === 'tracer'),
  spawnSync('strace', ['--seccomp-bpf', '-f', 'true']).status === 0
    ? { status: 'ok', needed: false, detail: /`strace` observes checks in sandbox/ }
    : { status: 'missing', needed: false, detail: /strace|no sandbox works here/ },
  'doctor tries the tracer in the sandbox',
);

t.test(
  'every command for a repository returns data that matches its schema',
  { skip: healthy === 0 ? false : 'writ doctor: no run works on this machine' },
  async (t) => {
    await answer('init');
    await answer('plan', '../spec.json');
    t.equal((await answer('runs')).data.runs?.length, 0);

    const bad = await answer('run', '../spec.json', '--patch', '../bad.patch');
    t.equal(bad.code, 1);
    t.equal(bad.error?.code, 'DECISION_ABANDON');
    writeFileSync(join(repo, 'a.txt'), 'mine\n');
    const dirty = await runLine(['run', '../spec.json', '--patch', '../good.patch'], commands, {
      cwd: repo,
      env,
    });
    t.match(dirty.err, 'writ: WORKTREE_DIRTY: ');
    t.match(dirty.err, 'found: a.txt (modified)');
    git('checkout', '-q', 'a.txt');
    const good = await answer('run', '../spec.json', '--patch', '../good.patch');
    t.equal(good.code, 0);
    const commit = good.data.decision?.commit_sha ?? '';
    const runId = good.data.run_id ?? '';
    t.equal(git('rev-parse', 'main').trim(), commit);

    t.equal((await answer('runs')).data.runs?.length, 2);
    t.equal((await answer('show', runId)).code, 0);
    t.equal((await answer('show', bad.data.run_id ?? '')).code, 0);
    t.equal((await answer('verify', commit)).code, 0);
    t.equal((await answer('verify', 'main~1')).code, 3, 'a commit that nobody sealed');
    const unsealed = await runLine(['verify', 'main~1'], commands, { cwd: repo, env });
    t.match(unsealed.err, '`bundle` missing: the commit names no run');
    t.notMatch(unsealed.out + unsealed.err, /missing\W+missing/);

    t.equal((await answer('report', runId, '--html', '../r.html', '--markdown', '../r.md')).code, 0);
    t.match(readFileSync(join(root, 'r.html'), 'utf8'), commit);
    t.match(readFileSync(join(root, 'r.md'), 'utf8'), commit);
    t.match(
      readFileSync(join(root, 'r.html'), 'utf8'),
      /signature verified.*<span class="add">\+two<\/span>/s,
    );

    const release = await answer('report', '--release', 'main~1..main', '--html', '../release.html');
    t.equal(release.code, 0);
    t.match(release.data, {
      total: { commits: 1, sealed: 1, verified: 1 },
      commits: [{ commit, sealed: true, verified: true, run_id: runId, spec_id: spec.metadata.id }],
    });
    t.match(readFileSync(join(root, 'release.html'), 'utf8'), commit);
    git('commit', '-q', '--allow-empty', '-m', 'by hand');
    const byHand = git('rev-parse', 'main').trim();
    git('commit', '-q', '--allow-empty', '-m', `forged\n\nRun-Id: ${runId}`);
    const mixed = await answer('report', '--release', 'main~3..main');
    t.equal(mixed.code, (await answer('verify', 'main~3..main')).code, 'it exits as verify does');
    t.match(mixed.data, {
      total: { commits: 3, sealed: 1, verified: 1 },
      commits: [
        { commit, sealed: true },
        { commit: byHand, subject: 'by hand', sealed: false, why: 'the commit names no run' },
        { subject: 'forged', sealed: false, verified: false, why: /subject-commit/ },
      ],
    });
    const text = await runLine(['report', '--release', 'main~3..main'], commands, { cwd: repo, env });
    t.match(text.out, '3 commits: 1 sealed and verified, 2 not sealed');
    t.match(text.out, /^not sealed {4}[0-9a-f]{12} {2}\d{4}-\d\d-\d\d {2}by hand/m);
    for (const wrong of [['--release', 'main'], [], [runId, '--release', 'main~1..main']])
      t.equal((await runLine(['report', ...wrong], commands, { cwd: repo, env })).code, 129);
    git('reset', '-q', '--hard', commit);

    const again = await runLine(['--json', 'report', runId, '--html', '../r.html'], commands, {
      cwd: repo,
      env,
    });
    t.match(JSON.parse(again.out), { ok: false, error: { code: 'OUTPUT_EXISTS' } });
    const none = await runLine(['--json', 'show', 'ffffffff'], commands, { cwd: repo, env });
    t.match(JSON.parse(none.out), { ok: false, error: { code: 'RUN_NOT_FOUND' } });
  },
);

t.test('`writ runs` without a run names `writ fetch` if the clone has a remote', async (t) => {
  const cwd = realpathSync(t.testdir({}));
  const given = { cwd, env: { PATH: env.PATH, HOME: cwd } };
  execFileSync('git', ['init', '-q'], given);
  t.equal((await runLine(['runs'], commands, given)).out, 'no runs yet\n');
  execFileSync('git', ['remote', 'add', 'origin', 'forge.git'], given);
  t.match((await runLine(['runs'], commands, given)).out, /^no runs yet\n.*`writ fetch`/);
});

interface Diagnosis {
  readonly id: string;
  readonly status: string;
  readonly detail: string;
}

async function keyDiagnosis(home: string): Promise<Diagnosis> {
  const { out } = await runLine(['--json', 'doctor'], commands, {
    cwd: home,
    env: { PATH: env.PATH, HOME: home },
  });
  const { checks } = JSON.parse(out).data as { readonly checks: readonly Diagnosis[] };
  const found = checks.find(({ id }) => id === 'signing-key');
  if (found === undefined) throw new Error('no diagnosis of the signing key');
  return found;
}

long(
  '`writ doctor` tries the bucket with two writers, and refuses one that ignores conditions',
  async (t) => {
    const server = await startS3();
    t.teardown(() => server.close());
    const place = `endpoint = "${server.endpoint}"\nbucket = "${server.bucket}"\n`;
    const cwd = realpathSync(t.testdir({ '.writ': { 'config.toml': `[store.s3]\n${place}` } }));
    const own = { PATH: env.PATH, HOME: cwd, AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret' };
    const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    for (const args of [
      ['init', '-q'],
      ['add', '.writ'],
      [...author, 'commit', '-q', '-m', 'first'],
    ])
      execFileSync('git', args, { cwd, env: own });
    const id = 'store-external-s3';
    const look = async (given: object) => {
      const { out } = await runLine(['--json', 'doctor'], commands, { cwd, env: { ...own, ...given } });
      const { checks } = JSON.parse(out).data as { readonly checks: readonly Diagnosis[] };
      return checks.filter((check) => check.id === id);
    };
    t.match(await look({}), [{ id, status: 'ok', detail: /one wins/ }]);
    t.strictSame(await server.keys(), [], 'the trial leaves nothing');
    server.keepsConditions = false;
    t.match(await look({}), [{ id, status: 'failed', detail: /^STORE_UNCONDITIONAL: / }]);
    t.match(await look({ AWS_SECRET_ACCESS_KEY: '' }), [
      { id, status: 'failed', detail: /^STORE_CREDENTIALS: / },
    ]);
  },
);

t.test('`writ doctor` reports a landing remote that the clone does not have', async (t) => {
  const cwd = realpathSync(t.testdir({ '.writ': { 'config.toml': '[landing]\nremote = "upstram"\n' } }));
  const own = { PATH: env.PATH, HOME: cwd };
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  for (const args of [
    ['init', '-q'],
    ['add', '.writ'],
    [...author, 'commit', '-q', '-m', 'first'],
  ])
    execFileSync('git', args, { cwd, env: own });
  const { out } = await runLine(['--json', 'doctor'], commands, { cwd, env: own });
  const { checks } = JSON.parse(out).data as { readonly checks: readonly Diagnosis[] };
  t.match(
    checks.find(({ id }) => id === 'landing-remote'),
    {
      status: 'missing',
      needed: false,
      detail: /names `upstram`, which `git remote` does not list \(none\)/,
    },
  );
});

long('`writ doctor` reports insecure private keys and creates none', async (t) => {
  const home = realpathSync(t.testdir({}));
  t.match(await keyDiagnosis(home), { status: 'ok', detail: 'none yet: made on first use' });
  t.strictSame(readdirSync(home), [], 'looking made nothing');

  const own = { HOME: home };
  const { keyId, publicKeyPem } = await openUserSigningKey(own);
  await openUserLedgerKey(own);
  const { status, detail } = await keyDiagnosis(home);
  t.match({ status, detail }, { status: 'ok', detail: keyId });
  const publicKey = readFileSync(/; public key: (.*)$/.exec(detail)?.[1] ?? '', 'utf8');
  t.equal(publicKey, publicKeyPem, 'the file that is handed out');
  for (const name of ['signing', 'ledger']) {
    const file = join(home, '.config/writ/keys', `${name}.pem`);
    chmodSync(file, 0o644);
    t.match(await keyDiagnosis(home), { status: 'failed', detail: /^KEY_INSECURE: / }, name);
    chmodSync(file, 0o600);
  }
  t.equal((await keyDiagnosis(home)).status, 'ok');
});

t.test('`writ demo` and `writ plugin new` report what is above a path that cannot be made', async (t) => {
  const cwd = realpathSync(t.testdir({ there: {}, file: '' }));
  const own = { PATH: env.PATH, HOME: cwd };
  const absent = await runLine(['demo', '--out', 'nosuch/x/y'], commands, { cwd, env: own });
  t.match(
    absent.err,
    'OUTPUT_FAILED: `nosuch/x/y` cannot be written: there is no directory `nosuch/x`\n  hint: make it: `mkdir -p nosuch/x`\n',
  );
  for (const line of [
    ['demo', '--out', 'file/x'],
    ['plugin', 'new', 'gate', 'no-drafts', '--dir', 'file/x'],
  ])
    t.match(
      (await runLine(line, commands, { cwd, env: own })).err,
      'OUTPUT_FAILED: `file/x` cannot be written: `file` is no directory\n',
    );
  t.notMatch(absent.err, 'remove that one first');
  t.equal(existsSync(join(cwd, 'nosuch')), false);
  t.match((await runLine(['demo', '--out', 'there'], commands, { cwd, env: own })).err, 'OUTPUT_EXISTS');
});
