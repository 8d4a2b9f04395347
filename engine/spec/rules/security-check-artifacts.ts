import type { ArtifactName, IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

const reports: readonly ArtifactName[] = ['sast-report', 'sca-report', 'sbom'];

/** Security checks, where there are any, produce the three reports between them (document 1, Acceptance). */
export function securityCheckArtifacts(spec: Partly<IntentSpec>): readonly Issue[] {
  const checks = checksOf(spec, ['securityChecks']);
  if (checks.length === 0) return [];
  const produced = new Set<string | undefined>(checks.flatMap(({ check }) => check.artifactsProduced ?? []));
  return reports
    .filter((name) => !produced.has(name))
    .map((name) =>
      error(
        'SEMANTIC_SECURITY_CHECK_ARTIFACTS',
        '/acceptance/verificationPlan/securityChecks',
        `expected a security check that produces \`${name}\``,
      ),
    );
}
