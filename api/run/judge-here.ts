import { readApprovals } from '../../attest/approval/read-approvals.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { ApprovalVerdict } from '../../core/contract/approval.ts';
import { parseConfig } from '../../engine/config/config.ts';
import { carryFaultIn } from '../../engine/run/decide/carried-approvals.ts';
import { differencesFrom, reportsOnRef } from '../../engine/run/record/shown-reports.ts';
import { listApprovals } from '../../engine/run/record/stored-approvals.ts';
import { peopleOf } from '../../engine/store/record/authorship.ts';
import { readObjects } from '../../engine/vcs/blobs.ts';
import type { WaitingRun } from './waiting-run.ts';

/** Everything said about a run so far, as it would be judged now. */
export interface JudgedHere {
  /** False where the policy commit is not in this clone, and so nobody can be named. */
  readonly judged: boolean;
  readonly approvers: readonly (Omit<ApprovalVerdict, 'status'> & {
    readonly status: ApprovalVerdict['status'] | 'unjudged';
  })[];
}

/** Reads and judges the stored approvals of a run, by the allowed signers at its policy commit. */
export async function judgeHere({
  repository,
  store,
  runId,
  record,
  report,
}: WaitingRun): Promise<JudgedHere> {
  const { subject, authors } = record;
  const policy = report.policyCommit ?? null;
  const [commit, file, config] =
    policy === null
      ? []
      : await readObjects(repository, [
          policy,
          `${policy}:.writ/allowed_signers`,
          `${policy}:.writ/config.toml`,
        ]);
  const judged = policy === null || commit?.type === 'commit';
  const { inProcess, carry } = parseConfig(
    config?.type === 'blob' ? config.bytes : undefined,
    sealingForms,
  ).approvals;
  const verdicts = await readApprovals(await listApprovals(store, runId), {
    subject,
    allowedSigners: file?.type === 'blob' ? file.bytes : undefined,
    authors: [...authors, ...peopleOf(report.authorship)],
    differences: differencesFrom(await reportsOnRef({ store, runId }), report),
    receivedAtMs: systemClock.now(),
    inProcess,
    ...(carry === 'equivalent' ? { carryFault: carryFaultIn(repository, subject) } : {}),
  });
  if (judged) return { judged, approvers: verdicts };
  return {
    judged,
    approvers: verdicts.map((verdict) => {
      const { detail: _, ...rest } = verdict;
      return verdict.status === 'untrusted-signer' ? { ...rest, status: 'unjudged' } : verdict;
    }),
  };
}
