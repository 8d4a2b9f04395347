import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { StageName } from '../../../core/contract/stage.ts';
import type { ConfiguredCheck } from '../../config/configured-check.ts';
import type { CheckList } from '../../spec/checks-of.ts';

const listOf: Readonly<Record<StageName, CheckList>> = {
  fast: 'fastChecks',
  integration: 'integrationChecks',
  security: 'securityChecks',
  release: 'releaseChecks',
};

/** The contract with more checks, each after those that its stage has. Pure. */
export function withChecks(
  spec: EffectiveIntentSpec,
  added: readonly Pick<ConfiguredCheck, 'stage' | 'check'>[],
): EffectiveIntentSpec {
  const plan = { ...spec.acceptance.verificationPlan };
  for (const { stage, check } of added) plan[listOf[stage]] = [...plan[listOf[stage]], check];
  return { ...spec, acceptance: { ...spec.acceptance, verificationPlan: plan } };
}
