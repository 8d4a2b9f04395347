import type {
  ArtifactName,
  ArtifactStage,
  EffectiveIntentSpec,
} from '../../../core/contract/intentspec.gen.ts';
import { warning } from '../../../core/contract/issue.ts';
import type { StageName } from '../../../core/contract/stage.ts';
import type { WritConfig } from '../../config/config.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
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

const artifactStage: Readonly<Record<StageName, ArtifactStage>> = {
  fast: 'per-task',
  integration: 'integration',
  security: 'security',
  release: 'release',
};

/**
 * Adds `[artifacts]` of the policy commit to what a contract requires: names that no contract can say, so that nothing
 * of its own is touched. Pure.
 */
export function withPolicyArtifacts(
  spec: EffectiveIntentSpec,
  { artifacts }: Pick<WritConfig, 'artifacts'>,
): EffectiveIntentSpec {
  if (artifacts.size === 0) return spec;
  const added = [...artifacts].map(([name, { stage, format }]) => ({
    name: name as ArtifactName,
    stage: artifactStage[stage],
    required: true,
    format,
  }));
  return { ...spec, artifacts: { ...spec.artifacts, required: [...spec.artifacts.required, ...added] } };
}
