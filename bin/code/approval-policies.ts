import type { ApprovalPolicy } from '../../session/session-options.ts';

/** Every value of `--approval-policy`, and the policy that it means. Here, so that `--help` loads no session. */
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
