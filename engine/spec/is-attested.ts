import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** Whether a commit under this contract gets a signed provenance statement: asked for by itself or as an artifact. */
export function isAttested({
  provenance,
  artifacts,
}: Pick<EffectiveIntentSpec, 'provenance' | 'artifacts'>): boolean {
  return (
    provenance.requireSlsaProvenance ||
    artifacts.required.some(({ name, required }) => required && name === 'provenance-attestation')
  );
}
