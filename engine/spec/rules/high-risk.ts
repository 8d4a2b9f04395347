import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue, warning } from '../../../core/contract/issue.ts';
import { isApproverCheck } from '../approver-check.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/**
 * High risk: human loop, two approvers, a `require-approvers` policy check before release, one task at a time (document
 * 1, Risk).
 */
export function highRisk(spec: Partly<IntentSpec>): readonly Issue[] {
  if (spec.risk?.level !== 'high') return [];
  const { required, minApprovers } = spec.risk.humanInLoop ?? {};
  const issues: Issue[] = [];
  if (required === false) {
    issues.push(
      error(
        'SEMANTIC_HIGH_RISK_HUMAN_LOOP',
        '/risk/humanInLoop/required',
        'expected true at high risk, found false',
      ),
    );
  }
  if (minApprovers !== undefined && minApprovers < 2) {
    issues.push(
      error(
        'SEMANTIC_HIGH_RISK_APPROVERS',
        '/risk/humanInLoop/minApprovers',
        `expected at least 2 at high risk, found ${minApprovers}`,
      ),
    );
  }
  const asksPeople = checksOf(spec, ['releaseChecks']).some(({ check }) => isApproverCheck(check));
  if (spec.acceptance?.verificationPlan?.releaseChecks && !asksPeople) {
    issues.push(
      error(
        'SEMANTIC_HIGH_RISK_REQUIRE_APPROVERS',
        '/acceptance/verificationPlan/releaseChecks',
        'expected a `policy` check with the command `require-approvers` at high risk',
      ),
    );
  }
  const parallel = spec.execution?.concurrency?.maxParallelTasks;
  if (parallel !== undefined && parallel > 1) {
    issues.push(
      warning(
        'SEMANTIC_HIGH_RISK_PARALLEL',
        '/execution/concurrency/maxParallelTasks',
        `expected 1 at high risk, found ${parallel}; 1 is used`,
      ),
    );
  }
  return issues;
}
