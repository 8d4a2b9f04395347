import type { WritConfig } from '../../config/config.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { withPolicyChecks } from './checks-of-policy.ts';
import { withFactorChecks } from './checks-with-factors.ts';

/**
 * The contract with what the config at the policy commit adds: checks of its risk factors, and those of every change.
 * CONFIG_INVALID.
 */
export function withConfig(
  contract: AdmittedContract,
  config: Pick<WritConfig, 'checks' | 'factors' | 'policies'>,
): AdmittedContract {
  const { spec, ids } = withPolicyChecks(withFactorChecks(contract.effective, config), config);
  return { ...contract, effective: spec, mandatory: ids };
}
