import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { isApproverCheck } from '../approver-check.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';
import { leastApprovers } from '../writing-secrets.ts';

/**
 * Secrets that may change something (`allow-scoped`) want a justification, which is the rationale naming each scope,
 * and elevated approval: the four eyes of high risk, asked for by a release check (document 1, Security policy).
 */
export function writingSecrets(spec: Partly<IntentSpec>): readonly Issue[] {
  const { policy, allowedScopes = [] } = spec.security?.secrets ?? {};
  if (policy !== 'allow-scoped') return [];
  const { rationale, humanInLoop } = spec.risk ?? {};
  const unnamed = allowedScopes.filter(
    (scope) => scope !== undefined && rationale?.includes(scope) === false,
  );
  const issues = unnamed.map((scope) =>
    error(
      'SEMANTIC_WRITING_SECRETS_UNJUSTIFIED',
      '/risk/rationale',
      `expected why \`allow-scoped\` gives ${quoted(scope ?? '')}, found no word of that scope`,
    ),
  );
  const { required, minApprovers } = humanInLoop ?? {};
  const release = spec.acceptance?.verificationPlan?.releaseChecks;
  const asksPeople = checksOf(spec, ['releaseChecks']).some(
    ({ check }) => isApproverCheck(check) && check.required !== false,
  );
  const found = [
    ...(required === false ? ['`required` false'] : []),
    ...(minApprovers !== undefined && minApprovers < leastApprovers
      ? [`\`minApprovers\` ${minApprovers}`]
      : []),
    ...(release && !asksPeople ? ['no required `require-approvers` check in `releaseChecks`'] : []),
  ];
  if (found.length === 0) return issues;
  const wanted = `expected a human loop of at least ${leastApprovers} approvers, and a release check that waits for them`;
  return [
    ...issues,
    error(
      'SEMANTIC_WRITING_SECRETS_APPROVERS',
      '/risk/humanInLoop',
      `${wanted}, where secrets are \`allow-scoped\`; found ${found.join(', ')}`,
    ),
  ];
}
