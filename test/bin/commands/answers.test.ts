import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

const root = realpathSync(t.testdir({ home: {}, repo: { 'a.txt': 'one\n' } }));
const repo = join(root, 'repo');
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
  acceptance: {
    verificationPlan: {
      fastChecks: [
        {
          id: 'same',
          kind: 'command',
          command: 'grep -q two a.txt',
          timeoutSeconds: 60,
          expectedExitCode: 0,
          required: true,
          artifactsProduced: ['test-log'],
        },
      ],
    },
  },
  security: {
    toolAcl: {
      allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands: ['grep'] } }],
    },
  },
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

t.test(
  'every command that works on a repository answers in its promised shape',
  { skip: healthy === 0 ? false : 'writ doctor: no run works on this machine' },
  async (t) => {
    await answer('init');
    await answer('plan', '../spec.json');
    t.equal((await answer('runs')).data.runs?.length, 0);

    const bad = await answer('run', '../spec.json', '--patch', '../bad.patch');
    t.equal(bad.code, 1);
    t.equal(bad.error?.code, 'DECISION_ABANDON');
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

    t.equal((await answer('report', runId, '--html', '../r.html', '--markdown', '../r.md')).code, 0);
    t.match(readFileSync(join(root, 'r.html'), 'utf8'), commit);
    t.match(readFileSync(join(root, 'r.md'), 'utf8'), commit);
    const again = await runLine(['--json', 'report', runId, '--html', '../r.html'], commands, {
      cwd: repo,
      env,
    });
    t.match(JSON.parse(again.out), { ok: false, error: { code: 'OUTPUT_EXISTS' } });
    const none = await runLine(['--json', 'show', 'ffffffff'], commands, { cwd: repo, env });
    t.match(JSON.parse(none.out), { ok: false, error: { code: 'RUN_NOT_FOUND' } });
  },
);
