import { WritError } from '../../core/base/errors.ts';
import { nearestName } from '../../core/base/nearest-name.ts';
import { quoted } from '../../core/base/quoted.ts';

/** When a person is asked before a tool call is made (document 2, Approval policies). */
export type ApprovalPolicy = 'never' | 'allow-all' | 'on-failure' | 'on-request' | 'untrusted';

/** Every value of `--approval-policy`, and the policy that it means. */
export const approvalPolicies: ReadonlyMap<string, ApprovalPolicy> = new Map([
  ['never', 'never'],
  ['allow-all', 'allow-all'],
  ['allow_all', 'allow-all'],
  ['always', 'allow-all'],
  ['accept', 'allow-all'],
  ['on-failure', 'on-failure'],
  ['on-request', 'on-request'],
  ['untrusted', 'untrusted'],
  ['unless-trusted', 'untrusted'],
]);

/** Reads a value of `--approval-policy` as it is written; USAGE for any other word. */
export function parseApprovalPolicy(text: string): ApprovalPolicy {
  const policy = approvalPolicies.get(text);
  if (policy !== undefined) return policy;
  const expected = [...approvalPolicies.keys()];
  const meant = nearestName(text, expected);
  throw new WritError('USAGE', {
    message: `expected \`--approval-policy\` to be one of ${expected.join(', ')}, found ${quoted(text)}`,
    detail: { option: 'approval-policy', expected },
    ...(meant === undefined ? {} : { hints: [`did you mean \`${meant}\`?`] }),
  });
}
