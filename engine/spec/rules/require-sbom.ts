import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

/** `provenance.requireSbom` needs `sbom` among the artifacts. */
export function requireSbom(spec: Partly<IntentSpec>): readonly Issue[] {
  const required = spec.artifacts?.required;
  if (spec.provenance?.requireSbom !== true || !required) return [];
  if (required.some((entry) => entry?.name === 'sbom' && entry.required !== false)) return [];
  return [
    error(
      'SEMANTIC_REQUIRE_SBOM',
      '/provenance/requireSbom',
      'expected `sbom` as a required artifact in `/artifacts/required`',
    ),
  ];
}
