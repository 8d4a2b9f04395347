import t from 'tap';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import type { ApprovalSubject } from '../../../core/interfaces/approval.ts';
import { handSigner } from '../approval/hand-signer.ts';
import { approvedBy } from './approved-by.ts';
import {
  makeMachine,
  removeMachines,
  resealStatement,
  type SealChanges,
  sealRun,
  startedOn,
  statementAt,
  verifyAs,
} from './sealed-run.ts';

t.teardown(removeMachines);

const [ana, ben] = [handSigner(), handSigner()];
const signers = Buffer.from(`ana@x ${ana.publicKey}\nben@x ${ben.publicKey}\n`);
const twoPeople = { humanInLoop: { required: true, minApprovers: 2 } };

async function approvalsOf(changes: SealChanges, allowedSigners: Uint8Array | undefined) {
  const machine = makeMachine();
  const sealed = await sealRun(machine, changes);
  const report = await verifyAs(sealed, { machine, options: allowedSigners ? { allowedSigners } : {} });
  const check = report.checks.find(({ id }) => id === 'approvals');
  return { check, verified: report.verified, exit: verifyExitCode(report) };
}

const both = approvedBy({ by: ana, as: 'ana@x' }, { by: ben, as: 'ben@x' });

t.test('approvals are verified with the allowed signers of the verifier', async (t) => {
  t.match(await approvalsOf({ ...twoPeople, approvals: both }, signers), {
    check: { status: 'passed', detail: { principals: ['ana@x', 'ben@x'] } },
    verified: true,
  });
});

t.test(
  'without allowed signers, approvals are reported as the repository counted them, unverified',
  async (t) => {
    t.match(await approvalsOf({ ...twoPeople, approvals: both }, undefined), {
      check: { status: 'unverified', code: 'per-repository', detail: { found: ['ana@x', 'ben@x'] } },
      verified: true,
    });
  },
);

t.test('unknown signers leave approvals unverified, and an invalid approval refutes them', async (t) => {
  t.match(await approvalsOf({ ...twoPeople, approvals: both }, Buffer.from('')), {
    check: { status: 'unverified', code: 'untrusted-signer' },
    exit: 3,
  });
  const earlier = approvedBy(
    { by: ana, as: 'ana@x', subject: { ...({} as ApprovalSubject), ...olderSubject } },
    { by: ben, as: 'ben@x' },
  );
  const cases: Readonly<Record<string, NonNullable<SealChanges['approvals']>>> = {
    'an older patchset': earlier,
    'one person twice': approvedBy({ by: ana, as: 'ana@x' }, { by: ana, as: 'ben@x' }),
    'one that had expired': approvedBy(
      { by: ana, as: 'ana@x' },
      { by: ben, as: 'ben@x', expiresAtMs: Date.parse(startedOn) + 1000 },
    ),
    'a rejection beside': approvedBy(
      { by: ana, as: 'ana@x' },
      { by: ben, as: 'ben@x' },
      { by: handSigner(), as: 'c' },
      { by: ben, as: 'ben@x', decision: 'reject' },
    ),
    'an author': (subject) => ({ ...both(subject), authors: ['ana@x'] }),
  };
  for (const [what, approvals] of Object.entries(cases))
    t.match(
      await approvalsOf({ ...twoPeople, approvals }, signers),
      { check: { status: 'failed', code: 'policy-deny' }, verified: false, exit: 1 },
      what,
    );
});

const olderSubject: ApprovalSubject = {
  runId: 'run-1',
  baseCommit: '2'.repeat(40),
  candidateTree: '4'.repeat(40),
  patchDigest: '9'.repeat(64),
  specDigest: '9'.repeat(64),
  gateReportDigest: '9'.repeat(64),
};

t.test('a decision with fewer approvers than the spec requires is refused, even when signed', async (t) => {
  const machine = makeMachine();
  const sealed = await sealRun(machine, { ...twoPeople, approvals: approvedBy({ by: ana, as: 'ana@x' }) });
  const decision = (await verifyAs(sealed, { machine })).checks.find(({ id }) => id === 'decision');
  t.match(decision, { status: 'failed', code: 'policy-deny' });
  const doubled = await resealStatement(machine, sealed, 'statements/decision.sigstore.json', (one) => ({
    ...one,
    predicate: {
      ...one.predicate,
      approvals: [...(one.predicate.approvals as []), ...(one.predicate.approvals as [])],
    },
  }));
  t.match(
    (await verifyAs(doubled, { machine })).checks.find(({ id }) => id === 'decision'),
    { status: 'failed', code: 'policy-deny' },
    'one person named twice',
  );
});

t.test('approvers required by a policy check count like those of the human loop', async (t) => {
  const machine = makeMachine();
  for (const [command, isMet] of [
    ['require-approvers --min 2', false],
    ['require-approvers', true],
    ['license-review --min 2', true],
  ] as const) {
    const fastChecks = [{ id: 'unit', kind: 'policy', command }];
    const sealed = await sealRun(machine, { fastChecks, approvals: approvedBy({ by: ana, as: 'ana@x' }) });
    const { checks } = await verifyAs(sealed, { machine });
    t.equal(checks.find(({ id }) => id === 'decision')?.status, isMet ? 'passed' : 'failed', command);
  }
});

const inProcess = approvedBy(
  { by: ana, as: 'ana@x', inProcess: true },
  { by: ben, as: 'ben@x', inProcess: true },
);

t.test('in-process approvals count if the signed decision marks them, and they are reported', async (t) => {
  t.match(await approvalsOf({ ...twoPeople, approvals: inProcess }, signers), {
    check: { status: 'passed', detail: { principals: ['ana@x', 'ben@x'], in_process: ['ana@x', 'ben@x'] } },
    verified: true,
  });
  t.match(await approvalsOf({ ...twoPeople, approvals: inProcess }, undefined), {
    check: { status: 'unverified', code: 'per-repository', detail: { in_process: ['ana@x', 'ben@x'] } },
  });
  const { check } = await approvalsOf({ ...twoPeople, approvals: both }, signers);
  t.notOk(check?.detail?.in_process, 'nothing is said where people signed');
  const machine = makeMachine();
  const sealed = await sealRun(machine, { ...twoPeople, approvals: inProcess });
  t.strictSame(statementAt(sealed, 'statements/vsa.sigstore.json').predicate.verifiedLevels, [
    'WRIT_GATES_PASSED',
  ]);
});

t.test('an in-process mark that statement and decision do not share is refused', async (t) => {
  /** The verdicts as a Scheduler would sign them that left the mark out, or put it where it is not. */
  const remarked =
    (from: NonNullable<SealChanges['approvals']>, mark: boolean): NonNullable<SealChanges['approvals']> =>
    (subject) => {
      const { documents, verdicts } = from(subject);
      const changed = verdicts.map(({ inProcess: _, ...verdict }) => ({
        ...verdict,
        ...(mark ? { inProcess: true as const } : {}),
      }));
      return { documents, verdicts: changed };
    };
  for (const [what, approvals] of [
    ['a marked statement, a silent decision', remarked(inProcess, false)],
    ['a marking decision, a statement of a person', remarked(both, true)],
  ] as const) {
    for (const known of [signers, undefined])
      t.match(
        await approvalsOf({ ...twoPeople, approvals }, known),
        { check: { status: 'failed', code: 'policy-deny' }, verified: false, exit: 1 },
        what,
      );
  }
  /** Counted by nobody: its digest is another than any the decision names. */
  const unnamed: NonNullable<SealChanges['approvals']> = (subject) => ({
    documents: inProcess(subject).documents,
    verdicts: both(subject).verdicts,
  });
  t.match(await approvalsOf({ ...twoPeople, approvals: unnamed }, signers), {
    check: { status: 'failed', code: 'policy-deny', detail: { uncounted: [/in-process/, /in-process/] } },
  });
});

t.test('a run with an in-process approval cannot claim two-person approval', async (t) => {
  const machine = makeMachine();
  const mixed = approvedBy({ by: ana, as: 'ana@x' }, { by: ben, as: 'ben@x', inProcess: true });
  const sealed = await sealRun(machine, { ...twoPeople, approvals: mixed });
  t.equal((await verifyAs(sealed, { machine })).verified, true);
  const claiming = await resealStatement(machine, sealed, 'statements/vsa.sigstore.json', (one) => ({
    ...one,
    predicate: { ...one.predicate, verifiedLevels: ['WRIT_GATES_PASSED', 'WRIT_TWO_PERSON_APPROVED'] },
  }));
  t.match(
    (await verifyAs(claiming, { machine })).checks.find(({ id }) => id === 'summary'),
    { status: 'failed', code: 'policy-deny' },
  );
});

t.test('a missing approval file is detected by the manifest', async (t) => {
  const machine = makeMachine();
  const sealed = await sealRun(machine, { ...twoPeople, approvals: both });
  sealed.run.delete('approvals/0002.json');
  const report = await verifyAs(sealed, { machine, options: { allowedSigners: signers } });
  t.equal(report.verified, false);
  t.match(
    report.checks.find(({ id }) => id === 'manifest-complete'),
    { status: 'missing' },
  );
  t.match(
    report.checks.find(({ id }) => id === 'approvals'),
    { status: 'missing', code: 'missing' },
  );
});
