import t from 'tap';
import { encodeApprovalDocument } from '../../../attest/approval/approval-document.ts';
import { type ApprovalInput, buildApproval } from '../../../attest/approval/approval-statement.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { ApprovalSubject, ApprovalVerdict } from '../../../core/contract/approval.ts';
import { type HandSigner, handSigner } from '../approval/hand-signer.ts';
import {
  makeMachine,
  removeMachines,
  resealStatement,
  type SealChanges,
  sealRun,
  startedOn,
  verifyAs,
} from './sealed-run.ts';

t.teardown(removeMachines);

const [ana, ben] = [handSigner(), handSigner()];
const signers = Buffer.from(`ana@x ${ana.publicKey}\nben@x ${ben.publicKey}\n`);
const twoPeople = { humanInLoop: { required: true, minApprovers: 2 } };

interface Signature extends Partial<ApprovalInput> {
  readonly by: HandSigner;
  readonly as: string;
}

/** What these people signed about the run, which the Scheduler counted. */
function approvedBy(...signatures: readonly Signature[]): NonNullable<SealChanges['approvals']> {
  return (subject: ApprovalSubject) => {
    const statements = signatures.map(({ by: _by, as: _as, ...more }) =>
      buildApproval({ subject, decision: 'approve', signedAtMs: Date.parse(startedOn), ...more }),
    );
    return {
      documents: signatures.map(({ by }, n) => {
        const statement = statements[n] ?? Buffer.alloc(0);
        return encodeApprovalDocument(statement, by.sign(statement));
      }),
      verdicts: signatures.map(
        ({ as, decision = 'approve' }, n): ApprovalVerdict => ({
          source: `refs/ai/approvals/run-1/${n + 1}`,
          digest: sha256Hex(statements[n] ?? ''),
          decision,
          principal: as,
          keyId: 'SHA256:x',
          signedAt: startedOn,
          status: 'counts',
        }),
      ),
    };
  };
}

async function approvalsOf(changes: SealChanges, allowedSigners: Uint8Array | undefined) {
  const machine = makeMachine();
  const sealed = await sealRun(machine, changes);
  const report = await verifyAs(sealed, { machine, options: allowedSigners ? { allowedSigners } : {} });
  const check = report.checks.find(({ id }) => id === 'approvals');
  return { check, verified: report.verified, exit: verifyExitCode(report) };
}

const both = approvedBy({ by: ana, as: 'ana@x' }, { by: ben, as: 'ben@x' });

t.test('approvals are judged anew by the signers that the verifier knows', async (t) => {
  t.match(await approvalsOf({ ...twoPeople, approvals: both }, signers), {
    check: { status: 'passed', detail: { principals: ['ana@x', 'ben@x'] } },
    verified: true,
  });
});

t.test(
  'without signers of the verifier they are told as the repository counted them, and count for nothing',
  async (t) => {
    t.match(await approvalsOf({ ...twoPeople, approvals: both }, undefined), {
      check: { status: 'unverified', code: 'per-repository', detail: { found: ['ana@x', 'ben@x'] } },
      verified: true,
    });
  },
);

t.test(
  'signers who know nobody leave it unverified; a signature that does not hold refutes it',
  async (t) => {
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
  },
);

const olderSubject: ApprovalSubject = {
  runId: 'run-1',
  baseCommit: '2'.repeat(40),
  candidateTree: '4'.repeat(40),
  patchDigest: '9'.repeat(64),
  specDigest: '9'.repeat(64),
  gateReportDigest: sha256Hex('{"report":1}'),
};

t.test(
  'a decision with fewer approvers than the contract demands is refused, whatever else is signed',
  async (t) => {
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
  },
);

t.test('an approval file that is gone is missed by the manifest', async (t) => {
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
