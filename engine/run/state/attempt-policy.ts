import type { PrivacyPolicy } from '../../../core/contract/privacy-policy.ts';
import { privacyPolicyOf } from '../../spec/privacy-policy-of.ts';
import type { OpenRun } from './attempt.ts';

/** What may be written of a run: its contract, with the words of the config at the policy commit. */
export function policyOf({
  identity: { contract },
  ground,
}: Pick<OpenRun, 'identity' | 'ground'>): PrivacyPolicy {
  return privacyPolicyOf(contract.effective, ground.config.redaction);
}
