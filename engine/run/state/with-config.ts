import { warning } from '../../../core/contract/issue.ts';
import type { WritConfig } from '../../config/config.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { withPolicyArtifacts } from './artifacts-of-policy.ts';
import { withPolicyChecks } from './checks-of-policy.ts';
import { factorsWithoutChecks, factorWithoutChecks, withFactorChecks } from './checks-with-factors.ts';

/**
 * The contract with what the config at the policy commit adds: checks of its risk factors, checks and artifacts of
 * every change. A factor that it gives none is a warning. CONFIG_INVALID.
 */
export function withConfig(
  contract: AdmittedContract,
  config: Pick<WritConfig, 'artifacts' | 'checks' | 'factors' | 'policies' | 'scanners'>,
): AdmittedContract {
  const { spec, ids } = withPolicyChecks(withFactorChecks(contract.effective, config), config);
  const untold = factorsWithoutChecks(contract.effective, config).map((factor) =>
    warning(
      'SEMANTIC_RISK_FACTOR_UNKNOWN',
      `/risk/factors/${contract.effective.risk.factors.indexOf(factor)}`,
      factorWithoutChecks(factor),
    ),
  );
  const effective = withPolicyArtifacts(spec, config);
  return { ...contract, effective, mandatory: ids, warnings: [...contract.warnings, ...untold] };
}
