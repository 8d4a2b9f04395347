import type { ArtifactName, IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

const minimum: readonly ArtifactName[] = ['patchset', 'test-log'];

/** The minimum set of artifacts is declared, and declared as required (document 1, Artifacts). */
export function artifactMinimum(spec: Partly<IntentSpec>): readonly Issue[] {
  const required = spec.artifacts?.required;
  if (!required) return [];
  return minimum.flatMap((name) => {
    if (required.some((entry) => entry?.name === name && entry.required !== false)) return [];
    const optional = required.findIndex((entry) => entry?.name === name);
    const path = optional === -1 ? '/artifacts/required' : `/artifacts/required/${optional}/required`;
    return [error('SEMANTIC_ARTIFACT_MINIMUM', path, `expected \`${name}\` as a required artifact`)];
  });
}
