import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { evaluateApprovals } from '../approvals/judge-approvals.ts';

/**
 * `require-approvers [--min N] [--group G]`: enough distinct people approved, by default
 * `risk.humanInLoop.minApprovers` and never fewer than one. Not enough yet: it waits. One rejection that counts, by
 * anybody, fails it.
 */
export const judge: RuleFunction = (input) =>
  evaluateApprovals('require-approvers', input, {
    needed: Math.max(1, input.spec.risk.humanInLoop.minApprovers),
  });
