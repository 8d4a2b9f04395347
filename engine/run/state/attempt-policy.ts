import type { PrivacyPolicy } from '../../../core/contract/privacy-policy.ts';
import { privacyPolicyOf } from '../../spec/privacy-policy-of.ts';
import type { OpenRun } from './attempt.ts';
import { withValues } from './run-secrets.ts';

/**
 * What may be written of a run: its contract, with the words of the config at the policy commit and the values that
 * this process knows to be secret.
 */
export function policyOf({
  identity: { contract },
  ground,
  means: { secrets, model },
}: Pick<OpenRun, 'identity' | 'ground' | 'means'>): PrivacyPolicy {
  const policy = privacyPolicyOf(contract.effective, ground.config.redaction);
  return withValues(policy, [...secrets.values, ...(model?.secrets ?? [])]);
}
