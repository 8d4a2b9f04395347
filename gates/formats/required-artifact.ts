import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** The contract requires this report, of whoever makes it. */
export function requiresArtifact({ artifacts }: EffectiveIntentSpec, name: string): boolean {
  return artifacts.required.some((artifact) => artifact.name === name && artifact.required);
}

/** The security stage lists checks, and the contract requires this report of them. */
export function requiresOfChecks(spec: EffectiveIntentSpec, name: string): boolean {
  return spec.acceptance.verificationPlan.securityChecks.length > 0 && requiresArtifact(spec, name);
}
