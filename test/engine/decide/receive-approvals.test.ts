import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { ApprovalGround, ReceivedApproval } from '../../../core/interfaces/approval.ts';
import { approveInProcess, receiveApprovals } from '../../../engine/decide/people.ts';
import { gateReport } from '../../../engine/record/build-gate-report.ts';
import { show } from '../../../engine/record/list-runs.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import { bareAttempt } from './bare-attempt.ts';

const directory = mkdtempSync(join(tmpdir(), 'writ-decide-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));
const sample = makeRepository(directory);
sample.commit({ '.writ/allowed_signers': 'ann ssh-ed25519 AAAA\n' });
const repository = await openRepository(sample.dir);
const tree = sample.git('rev-parse', 'HEAD^{tree}').trim();

const subject = {
  runId: 'run-1',
  baseCommit: null,
  candidateTree: 'f'.repeat(40),
  patchDigest: 'e'.repeat(64),
  specDigest: 'd'.repeat(64),
  gateReportDigest: 'a'.repeat(64),
};

t.test('received approvals are timestamped, verified and stored', async (t) => {
  const calls: (readonly [readonly ReceivedApproval[], ApprovalGround])[] = [];
  const statuses = [
    'counts',
    'malformed',
    'wrong-namespace',
    'bad-signature',
    'untrusted-signer',
    'expired',
    'wrong-subject',
    'author',
    'duplicate',
    'in-process',
  ];
  const read = async (received: readonly ReceivedApproval[], environment: ApprovalGround) => {
    calls.push([received, environment]);
    return received.map(({ source }, n) => ({ source, status: statuses[n] }));
  };
  let now = 5_000;
  const attempt = bareAttempt({
    services: {
      engine: { approvals: { read } },
      settings: { clock: { now: () => now } },
      scratch: repository,
    },
    environment: {
      repository,
      policy: { tree },
      config: { approvals: { inProcess: true } },
    },
  });
  const stored = statuses.map((status, n) => ({ source: `refs/${n}`, bytes: Buffer.from(status) }));
  const differences = new Map([['x', ['words']]]);
  const first = await receiveApprovals(attempt, subject, stored.slice(0, 1), differences);
  now = 9_000;
  const all = await receiveApprovals(attempt, subject, stored, differences);

  t.test('received approvals keep the time at which this machine first saw them', async (t) => {
    t.strictSame([...first.receivedAtMs], [['refs/0', 5_000]]);
    t.equal(all.receivedAtMs.get('refs/0'), 5_000);
    t.equal(all.receivedAtMs.get('refs/1'), 9_000);
    t.strictSame(attempt.services.steps.ended(`local/approval/${sha256Hex(Buffer.from('counts'))}`), {
      answer: 5_000,
    });
  });

  t.test(
    'received approvals are verified against the subject, the authors and the policy commit signers',
    async (t) => {
      const [received, environment] = calls.at(-1) ?? [];
      t.strictSame(received?.[0], { ...stored[0], receivedAtMs: 5_000 });
      t.match(environment, { subject, receivedAtMs: 9_000, inProcess: true, differences });
      t.strictSame(environment?.authors, ['maintainer', 'writ-coder', 'Bo <bo@x>']);
      t.equal(String(environment?.allowedSigners), 'ann ssh-ed25519 AAAA\n');
    },
  );

  t.test('approvals with a proven signer are stored, whether or not they count', async (t) => {
    t.equal(all.verdicts.length, statuses.length);
    t.strictSame(
      all.stored.map(({ bytes }) => String(bytes)),
      ['counts', 'expired', 'wrong-subject', 'author', 'duplicate', 'in-process'],
    );
  });
});

t.test('in-process approvers are optional and sign only after a subject is shown', async (t) => {
  const written: unknown[] = [];
  const objects = {
    refs: async () => written.map((_, n) => ({ ref: `refs/ai/approvals/run-1/${n + 1}` })),
    writeTree: async (ref: string, { message, files }: { message: string; files: unknown }) => {
      written.push([ref, message, files]);
    },
  };
  const signed: unknown[] = [];
  const approver = (name: string) => ({
    approve: async (...asked: unknown[]) => {
      signed.push(asked);
      return Buffer.from(name);
    },
  });
  const store = {
    objects,
    refs: { approvals: (id: string) => `refs/ai/approvals/${id}/`, content: () => '' },
  };
  const settings = { clock: { now: () => 7 }, approvers: [approver('a'), approver('b')] };
  const attempt = bareAttempt({ services: { store, settings } });

  await approveInProcess(attempt);
  t.strictSame(written, [], 'sign nothing before anything was shown');

  const shown = await show(attempt, gateReport(attempt, [], []));
  await approveInProcess(attempt);
  t.strictSame(signed, [
    [shown.subject, 7],
    [shown.subject, 7],
  ]);
  t.match(written, [
    ['refs/ai/approvals/run-1/1', /run-1/, [['approval.json', Buffer.from('a')]]],
    ['refs/ai/approvals/run-1/2', /run-1/, [['approval.json', Buffer.from('b')]]],
  ]);

  const none = bareAttempt({ services: { ...attempt.services, settings: { clock: settings.clock } } });
  await approveInProcess(none);
  t.equal(written.length, 2, 'are optional');
});
