import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** The contract requires this report, of whoever makes it. */
export function requiresArtifact({ artifacts }: EffectiveIntentSpec, name: string): boolean {
  return artifacts.required.some((artifact) => artifact.name === name && artifact.required);
}

/** The security stage lists checks, and the contract requires this report of them. */
export function requiresOfChecks(spec: EffectiveIntentSpec, name: string): boolean {
  return spec.acceptance.verificationPlan.securityChecks.length > 0 && requiresArtifact(spec, name);
}

const gates = ['per-task', 'integration', 'security', 'release'] as const;

/** The contract requires this report of whoever makes it, at this gate or an earlier one; or of its security checks. */
export function requiresByStage(
  spec: EffectiveIntentSpec,
  name: string,
  gate: (typeof gates)[number],
): boolean {
  const isInTime = ({ stage }: { readonly stage: (typeof gates)[number] }): boolean =>
    gates.indexOf(stage) <= gates.indexOf(gate);
  return (
    requiresOfChecks(spec, name) ||
    spec.artifacts.required.some((entry) => entry.name === name && entry.required && isInTime(entry))
  );
}
