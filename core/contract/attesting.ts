import type { ApprovalReader } from './approval.ts';
import type { Attestor } from './attestor.ts';

/**
 * Who states what was done, and who reads what people signed: an engine has one of each, handed in by whoever composes
 * it.
 */
export interface Attesting {
  readonly attestor: Attestor;
  readonly approvals: ApprovalReader;
}
