import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { buildWaitingRecord, type WaitingRecord } from '../../../engine/record/stored-approvals.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import type { GateReport } from '../../../store/record/gate-report.ts';
import { verdictDigest } from '../../../store/record/verdict.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeKey, publicOf, withoutSshKeygen } from '../../attest/approval/ssh-tools.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

// Where there is no ssh-keygen, nobody can approve: the attest tests still judge signatures made by hand.
t.test(
  '`writ approve` signs approvals and rejections of waiting runs',
  { skip: withoutSshKeygen },
  async (t) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-approve-')));
    t.teardown(() => rmSync(root, { recursive: true, force: true }));
    const [repo, home] = [join(root, 'repo'), join(root, 'home')];
    mkdirSync(join(repo, '.writ'), { recursive: true });
    mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
    const isolated: Readonly<Record<string, string>> = {
      HOME: home,
      GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Dana',
      GIT_AUTHOR_EMAIL: 'dana@x.example',
      GIT_COMMITTER_NAME: 'Dana',
      GIT_COMMITTER_EMAIL: 'dana@x.example',
    };
    const env = {
      ...isolated,
      PATH: process.env.PATH ?? '',
      SSH_ASKPASS: '/bin/false',
      SSH_ASKPASS_REQUIRE: 'force',
    };
    const before = { ...process.env };
    Object.assign(process.env, isolated);
    t.teardown(() => {
      for (const name of Object.keys(isolated)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    });
    writeFileSync(join(home, 'gitconfig'), '');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, encoding: 'utf8' }).trim();

    const keys = { ana: makeKey(root, 'ana'), ben: makeKey(root, 'ben'), dana: makeKey(root, 'dana') };
    git('init', '-q', '-b', 'main');
    writeFileSync(
      join(repo, '.writ', 'allowed_signers'),
      [
        `ana@x.example ${publicOf(keys.ana)}`,
        `*@x.example namespaces="writ-approval@v1" ${publicOf(keys.ben)}`,
        `dana@x.example ${publicOf(keys.dana)}`,
      ].join('\n'),
    );
    writeFileSync(join(repo, 'a.txt'), 'one\n');
    git('add', '-A');
    git('commit', '-qm', 'base');
    const baseCommit = git('rev-parse', 'HEAD');
    writeFileSync(join(repo, 'a.txt'), 'two\n');
    git('add', '-A');
    git('commit', '-qm', 'candidate');
    const [candidate, candidateTree] = [git('rev-parse', 'HEAD'), git('rev-parse', 'HEAD^{tree}')];
    git('reset', '-q', '--hard', baseCommit);

    const store = openGitNativeStore(await openRepository(repo), { clock: systemClock });
    const summary = 'Say two \u202e instead of one';
    const report = {
      schema: 'urn:writ:gate-report:v1',
      runId: '0198c1e2',
      threadId: '0198c1e2',
      startedAt: '2026-01-01T00:00:00Z',
      spec: { id: 'spec-1', digest: '4'.repeat(64), summary, objectives: [] },
      baseCommit,
      policyCommit: baseCommit,
      targetRef: 'refs/heads/main',
      sandbox: 'none',
      authorship: { authors: ['Dana <dana@x.example>'], committers: [] },
      findings: [],
      artifacts: [],
      patch: {
        digest: '3'.repeat(64),
        candidateTree,
        files: [{ path: 'a.txt', changeType: 'modify', linesAdded: 1, linesDeleted: 1 }],
      },
      stages: [{ stage: 'fast', status: 'passed', expected: 0, ran: 0, checks: [], findings: [] }],
    };
    const verdict = verdictDigest(report as unknown as GateReport);
    /** A waiting run as the Scheduler leaves it. */
    async function wait(
      runId: string,
      more: Partial<WaitingRecord> = {},
      files: Readonly<Record<string, string>> = {},
    ) {
      const record: WaitingRecord = {
        for: 'approval',
        subject: {
          runId,
          baseCommit,
          candidateTree,
          patchDigest: '3'.repeat(64),
          specDigest: '4'.repeat(64),
          gateReportDigest: verdict,
        },
        needed: 2,
        authors: ['Dana <dana@x.example>'],
        specId: 'spec-1',
        summary,
        ...more,
      };
      const all = {
        'waiting.json': Buffer.from(buildWaitingRecord(record)),
        'gate-report.json': canonicalize(report),
        ...files,
      };
      await store.writeTree(`refs/ai/runs/${runId}`, {
        message: 'waits',
        keepExisting: false,
        files: Object.entries(all).flatMap(([path, bytes]) =>
          bytes === '' ? [] : [[path, Buffer.from(bytes)] as const],
        ),
      });
      return runId;
    }
    async function approve(cwd: string, ...argv: string[]) {
      const { code, out, err } = await runLine(['--json', 'approve', ...argv], commands, { cwd, env });
      const document = JSON.parse(out);
      if (document.data !== undefined) t.strictSame(faultsOf('approve', document.data), [], argv.join(' '));
      return { code, err, ...document };
    }
    const statusesOf = (answer: { data: { approvers: { status: string }[] } }) =>
      answer.data.approvers.map(({ status }) => status);

    t.test('two people approve a run, and the run itself stays unchanged', async (t) => {
      const run = await wait('0198c1e2-0001');
      const version = await store.version(`refs/ai/runs/${run}`);
      const first = await approve(repo, run, '--key', keys.ana, '--comment', 'read it', '--role', 'api');
      t.equal(first.code, 0);
      t.match(first.data, {
        run_id: run,
        ref: `refs/ai/approvals/${run}/1`,
        decision: 'approve',
        judged: true,
        approved: 1,
        needed: 2,
        approvers: [
          {
            principal: 'ana@x.example',
            status: 'counts',
            decision: 'approve',
            comment: 'read it',
            role: 'api',
          },
        ],
      });
      const second = await approve(
        repo,
        '0198c1e2-0001',
        '--key',
        keys.ben,
        '--as',
        'ben@x.example',
        '--expires',
        '7d',
      );
      t.match(second.data, {
        approved: 2,
        approvers: [{ principal: 'ana@x.example' }, { principal: 'ben@x.example' }],
      });
      t.equal(await store.version(`refs/ai/runs/${run}`), version);
      t.equal(git('rev-parse', 'HEAD'), baseCommit);
      const again = await approve(repo, run, '--key', keys.ana);
      t.match(again.data, { approved: 2, ref: `refs/ai/approvals/${run}/3` });
      t.strictSame(statusesOf(again), ['duplicate', 'counts', 'counts']);
      t.notMatch(again.err, /does not count/, 'the latest stands');
    });

    t.test('the command prints the change that it is about to approve', async (t) => {
      const run = await wait('0198c1e2-0002');
      const { err } = await runLine(['approve', run, '--key', keys.ana], commands, { cwd: repo, env });
      for (const told of [
        'Say two',
        baseCommit,
        candidateTree,
        `patch ${'3'.repeat(12)}`,
        `spec ${'4'.repeat(12)}`,
        `results ${verdict.slice(0, 12)}`,
        'Dana <dana@x.example>',
        '1 file, +1 -1',
        'fast passed',
      ])
        t.ok(err.includes(told), told);
      t.notOk(err.includes('\u202e'), 'nothing in it can reorder the line');
      const refused = await approve(repo, run, '--key', join(root, 'absent'));
      t.match(refused, { code: 129, error: { code: 'INPUT_UNREADABLE' } });
    });

    t.test('on a terminal a person sees the change and confirms once before the command signs', async (t) => {
      for (const [at, [line, stdin, signed]] of (
        [
          [[], '', false],
          [[], 'no\n', false],
          [['--reject'], 'nothing\n', false],
          [[], 'yes\n', true],
          [['--reject'], 'Y\n', true],
          [['--yes'], '', true],
        ] as const
      ).entries()) {
        const run = await wait(`0198c1e2-002${at}`);
        const argv = ['approve', run, '--key', keys.ana, ...line];
        const { code, err } = await runLine(argv, commands, { cwd: repo, env, terminal: true, stdin });
        const name = `${line.join(' ')} ${stdin}`;
        t.equal(code, signed ? 0 : 1, name);
        t.equal(git('for-each-ref', `refs/ai/approvals/${run}/*`) !== '', signed, name);
        const shown = err.indexOf('git diff');
        t.ok(shown !== -1, name);
        if (line[0] === '--yes') t.notMatch(err, /yes or no/, name);
        else t.ok(err.indexOf(`${line.length === 0 ? 'approve' : 'reject'} it? yes or no`) > shown, name);
      }
    });

    t.test('approvals by an author or an unknown signer are stored but do not count', async (t) => {
      const run = await wait('0198c1e2-0003');
      await approve(repo, run, '--key', keys.dana);
      await approve(repo, run, '--key', makeKey(root, 'eve'));
      await approve(repo, run, '--key', keys.ben);
      const last = await approve(repo, run, '--key', keys.ana, '--as', 'dana@x.example');
      t.strictSame(statusesOf(last), ['author', 'untrusted-signer', 'untrusted-signer', 'untrusted-signer']);
      t.match(last.data, { approved: 0 });
      t.match(last, {
        code: 1,
        ok: false,
        error: { code: 'APPROVAL_NOT_COUNTED', details: { status: 'untrusted-signer' } },
      });
      const author = await approve(repo, run, '--key', keys.dana);
      t.match(author, { code: 1, error: { code: 'APPROVAL_NOT_COUNTED', details: { status: 'author' } } });
      t.match(author.data, { ref: `refs/ai/approvals/${run}/5` }, 'it is stored all the same');
    });

    t.test('a rejection is recorded as a signed statement', async (t) => {
      const run = await wait('0198c1e2-0004');
      await approve(repo, run, '--key', keys.ana);
      const rejected = await approve(repo, run, '--key', keys.ana, '--reject', '--comment', 'breaks');
      t.match(rejected.data, { decision: 'reject', approved: 0 });
      t.strictSame(statusesOf(rejected), ['duplicate', 'counts']);
    });

    t.test('a run can be approved in a clone that holds only `refs/ai`', async (t) => {
      const run = await wait('0198c1e2-0005');
      git('update-ref', `refs/ai/content/${run}`, candidate);
      for (const [name, refspec, judged] of [
        ['whole', 'refs/ai/*:refs/ai/*', true],
        ['bare-record', 'refs/ai/runs/*:refs/ai/runs/*', false],
      ] as const) {
        const clone = join(root, name);
        execFileSync('git', ['init', '-q', clone], { env });
        execFileSync('git', ['fetch', '-q', repo, refspec], { cwd: clone, env });
        const answer = await approve(clone, run, '--key', keys.ana);
        t.match(
          answer,
          { code: 0, data: { judged, approved: judged ? 1 : null, ref: `refs/ai/approvals/${run}/1` } },
          name,
        );
        t.strictSame(statusesOf(answer), [judged ? 'counts' : 'unjudged']);
        execFileSync('git', ['fetch', '-q', clone, `refs/ai/approvals/*:refs/ai/${name}/*`], {
          cwd: repo,
          env,
        });
        const file = `refs/ai/${name}/${run}/1:approval.json`;
        t.match(JSON.parse(git('show', file)), { schema: 'urn:writ:approval:v1' });
      }
    });

    t.test('only a waiting run with a consistent record can be approved', async (t) => {
      const refusal = async (run: string) => (await approve(repo, run, '--key', keys.ana)).error?.code;
      t.equal(await refusal('0198c1e2-none'), 'RUN_NOT_FOUND');
      t.equal(await refusal(await wait('0198c1e2-1001', {}, { 'waiting.json': '' })), 'RUN_NOT_WAITING');
      t.equal(await refusal(await wait('0198c1e2-1002', {}, { 'decision.json': '{}' })), 'RUN_NOT_WAITING');
      t.equal(await refusal(await wait('0198c1e2-1003', {}, { 'waiting.json': '{}' })), 'OBJECT_CORRUPT');
      t.equal(await refusal(await wait('0198c1e2-1004', {}, { 'gate-report.json': '' })), 'OBJECT_CORRUPT');
      const another = canonicalize({ ...report, targetRef: 'refs/heads/other' });
      t.equal(
        await refusal(await wait('0198c1e2-1005', {}, { 'gate-report.json': another })),
        'OBJECT_CORRUPT',
      );
      const { subject } = {
        subject: {
          runId: '0198c1e2-0001',
          baseCommit,
          candidateTree,
          patchDigest: '3'.repeat(64),
          specDigest: '4'.repeat(64),
          gateReportDigest: verdict,
        },
      };
      t.equal(
        await refusal(await wait('0198c1e2-1006', { subject })),
        'OBJECT_CORRUPT',
        'the record of another run',
      );
      const empty = canonicalize({});
      const named = { ...subject, runId: '0198c1e2-1007', gateReportDigest: '9'.repeat(64) };
      t.equal(
        await refusal(await wait('0198c1e2-1007', { subject: named }, { 'gate-report.json': empty })),
        'OBJECT_CORRUPT',
        'a report of nothing, named by its digest',
      );
      const other: readonly (readonly [string, Partial<WaitingRecord>, Partial<WaitingRecord['subject']>])[] =
        [
          ['0198c1e2-1008', {}, { candidateTree: git('rev-parse', `${baseCommit}^{tree}`) }],
          ['0198c1e2-1009', {}, { patchDigest: '5'.repeat(64) }],
          ['0198c1e2-100a', {}, { specDigest: '5'.repeat(64) }],
          ['0198c1e2-100b', {}, { baseCommit: candidate }],
          ['0198c1e2-100c', { summary: 'Harmless' }, {}],
          ['0198c1e2-100d', { specId: 'spec-2' }, {}],
        ];
      for (const [runId, record, about] of other) {
        const run = await wait(runId, { ...record, subject: { ...subject, runId, ...about } });
        t.equal(await refusal(run), 'OBJECT_CORRUPT', `${runId}: another change than that of its report`);
      }
      t.strictSame(git('for-each-ref', 'refs/ai/approvals/0198c1e2-100*/*'), '', 'nothing was signed');
    });

    t.test('unusable option values are usage errors', async (t) => {
      const run = await wait('0198c1e2-0006');
      for (const line of [
        ['--expires', '7'],
        ['--expires', '0d'],
        ['--expires', '400d'],
        ['--as', '*@x.example'],
        ['--as', ''],
        ['--role', 'a\nb'],
        ['--role', 'x'.repeat(65)],
        ['--comment', ''],
        ['--comment', 'a\u0007'],
      ])
        t.match(
          await approve(repo, run, '--key', keys.ana, ...line),
          { code: 129, error: { code: 'USAGE' } },
          line.join(' '),
        );
      t.equal((await approve(repo)).code, 129);
    });

    t.test(
      'the key comes from git’s SSH config, then from `~/.ssh`, else an error names the options',
      async (t) => {
        const run = await wait('0198c1e2-0007');
        t.match(await approve(repo, run), {
          code: 129,
          error: { code: 'USAGE', hints: [/--key/, /gpg.format/] },
        });
        execFileSync('cp', [keys.ana, join(home, '.ssh', 'id_ed25519')]);
        execFileSync('cp', [`${keys.ana}.pub`, join(home, '.ssh', 'id_ed25519.pub')]);
        t.match((await approve(repo, run)).data, { approvers: [{ principal: 'ana@x.example' }] });
        git('config', 'user.signingkey', keys.dana);
        t.match(
          (await approve(repo, run)).data.approvers[1],
          { principal: 'ana@x.example' },
          'an OpenPGP key is none',
        );
        git('config', 'gpg.format', 'ssh');
        t.match((await approve(repo, run)).data.approvers[2], { principal: 'dana@x.example' });
        execFileSync('cp', [keys.ben, join(home, 'ben')]);
        git('config', 'user.signingkey', '~/ben');
        t.match((await approve(repo, run, '--as', 'b@x.example')).data.approvers[3], {
          principal: 'b@x.example',
        });
        git('config', 'user.signingkey', `key::${publicOf(keys.ana)}`);
        t.match(await approve(repo, run), { error: { code: 'SIGNER_FAILED' } }, 'no agent holds it');
      },
    );
  },
);
