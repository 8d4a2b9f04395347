import type { ApprovalReader } from '../../core/contract/approval.ts';
import { parseAllowedSigners } from './allowed-signers.ts';
import { countPeople } from './count-people.ts';
import { judgeApproval } from './judge-approval.ts';

/** Judges signed approvals offline, by the ground alone: one verdict for each, in the order given. */
export const readApprovals: ApprovalReader['read'] = async (approvals, ground) => {
  const allowed = parseAllowedSigners(ground.allowedSigners);
  const verdicts = await Promise.all(approvals.map((approval) => judgeApproval(approval, ground, allowed)));
  return countPeople(verdicts, allowed, ground.authors);
};

/** Slot `approval`, name `sshsig`. */
export const sshsigApprovals: ApprovalReader = { read: readApprovals };
