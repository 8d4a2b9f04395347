/* Decides whether a spec requires a report. */
import type { ArtifactStage, EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import { gateOf, lookedForAt } from '../../spec/checks-of.ts';

export function requiresArtifact({ artifacts }: EffectiveIntentSpec, name: string): boolean {
  return artifacts.required.some((artifact) => artifact.name === name && artifact.required);
}

/** Whether the security stage lists checks and the spec requires this report. */
export function requiresOfChecks(spec: EffectiveIntentSpec, name: string): boolean {
  return spec.acceptance.verificationPlan.securityChecks.length > 0 && requiresArtifact(spec, name);
}

/**
 * Whether the spec requires this report at this gate or an earlier one, from any producer, or from its security
 * checks.
 */
export function requiresByStage(spec: EffectiveIntentSpec, name: string, gate: ArtifactStage): boolean {
  const isInTime = (entry: Parameters<typeof lookedForAt>[1]): boolean =>
    stageNames.indexOf(lookedForAt(spec, entry)) <= stageNames.indexOf(gateOf[gate]);
  return (
    requiresOfChecks(spec, name) ||
    spec.artifacts.required.some((entry) => entry.name === name && entry.required && isInTime(entry))
  );
}
