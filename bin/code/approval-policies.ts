import type { ApprovalPolicy } from '../../session/session-options.ts';

/** Values of `--approval-policy` and the policy of each. Kept apart so that `--help` does not load the session. */
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
