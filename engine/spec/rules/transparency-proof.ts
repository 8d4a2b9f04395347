import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

/** Provenance that goes into a log wants the proof kept: `transparency-proof` among the artifacts (a warning). */
export function transparencyProof(spec: Partly<IntentSpec>): readonly Issue[] {
  const mode = spec.provenance?.transparencyLog?.mode;
  const required = spec.artifacts?.required;
  if (spec.provenance?.requireSlsaProvenance !== true || !required || mode === undefined || mode === 'none')
    return [];
  if (required.some((entry) => entry?.name === 'transparency-proof')) return [];
  return [
    warning(
      'SEMANTIC_TRANSPARENCY_PROOF',
      '/provenance/transparencyLog/mode',
      `expected \`transparency-proof\` in \`/artifacts/required\` with mode \`${mode}\``,
    ),
  ];
}
