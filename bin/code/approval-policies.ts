import type { ApprovalPolicy } from '../../session/options/session-options.ts';

/** Every way to write an approval policy (document 2, Approval policies). */
export const approvalPolicies: Readonly<Record<string, ApprovalPolicy>> = {
  never: 'never',
  'allow-all': 'allow-all',
  allow_all: 'allow-all',
  always: 'allow-all',
  accept: 'allow-all',
  'on-failure': 'on-failure',
  'on-request': 'on-request',
  untrusted: 'untrusted',
  'unless-trusted': 'untrusted',
};
