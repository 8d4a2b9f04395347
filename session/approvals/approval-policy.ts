/** When a tool call needs the approval of a person (docs/approvals-of-commands.md). */
export type ApprovalPolicy = 'never' | 'allow-all' | 'on-failure' | 'on-request' | 'untrusted';

/** Every value of `--approval-policy`, and the policy that it means. */
export const approvalPolicies: Readonly<Record<string, ApprovalPolicy>> = {
  never: 'never',
  none: 'never',
  'allow-all': 'allow-all',
  allow_all: 'allow-all',
  always: 'allow-all',
  accept: 'allow-all',
  'on-failure': 'on-failure',
  'on-request': 'on-request',
  untrusted: 'untrusted',
  'unless-trusted': 'untrusted',
};
