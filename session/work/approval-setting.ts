import type { GrantLedger } from '../approvals/keep-grants.ts';
import type { Mask } from '../approvals/use-text.ts';
import type { ApprovalPolicy } from '../options/session-options.ts';

/** How a session goes about tool calls that everybody else lets through (document 2, Approval policies). */
export interface ApprovalSetting {
  readonly policy: ApprovalPolicy;
  /** How long an answer "for a while" counts; 0: that one call. */
  readonly ttlSeconds: number;
  readonly grants: GrantLedger;
  /** Takes out of words what nobody may be shown. */
  readonly mask: Mask;
}
