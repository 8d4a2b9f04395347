/* Semantic rules on checks and artifacts. */
import { quoted } from '../../core/base/printable.ts';
import { error, type Issue, warning } from '../../core/interfaces/finding.ts';
import type { ArtifactName, IntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type CheckList, checksOf } from '../checks-of.ts';
import type { Partly } from '../facts.ts';
import { readLanguageRuntime } from '../language-runtime.ts';

/** Every artifact that a check produces is declared in `artifacts.required`. */
export function artifactDeclared(spec: Partly<IntentSpec>): readonly Issue[] {
  const required = spec.artifacts?.required;
  if (!required) return [];
  const declared = new Set<string | undefined>(required.map((entry) => entry?.name));
  return checksOf(spec).flatMap(({ path, check }) =>
    (check.artifactsProduced ?? []).flatMap((name, index) =>
      name === undefined || declared.has(name)
        ? []
        : [
            error(
              'SEMANTIC_ARTIFACT_UNDECLARED',
              `${path}/artifactsProduced/${index}`,
              `expected a name declared in \`/artifacts/required\`, found ${quoted(name)}`,
            ),
          ],
    ),
  );
}

const minimum: readonly ArtifactName[] = ['patchset', 'test-log'];

/** The minimum set of artifacts is declared, and declared as required. */
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

/** Every check has a command: a command line, or the name of a policy rule. A blank one is missing. */
export function checkCommand(spec: Partly<IntentSpec>): readonly Issue[] {
  const message = 'expected a `command`, found none';
  return checksOf(spec).flatMap(({ path, check }) => {
    if (!('command' in check)) return [error('SEMANTIC_CHECK_COMMAND', path, message)];
    // The empty string is the schema's business.
    const blank = check.command !== '' && check.command?.trim() === '';
    return blank ? [error('SEMANTIC_CHECK_COMMAND', `${path}/command`, message)] : [];
  });
}

/** Check ids are unique over all four lists; the later one is at fault. */
export function checkIdsUnique(spec: Partly<IntentSpec>): readonly Issue[] {
  const first = new Map<string, string>();
  return checksOf(spec).flatMap(({ path, check: { id } }) => {
    if (id === undefined) return [];
    const earlier = first.get(id);
    if (earlier !== undefined) {
      return [
        error(
          'SEMANTIC_CHECK_ID_DUPLICATE',
          `${path}/id`,
          `expected an id of its own, found ${quoted(id)} as at \`${earlier}\``,
        ),
      ];
    }
    first.set(id, path);
    return [];
  });
}

/** Warns of a policy check `licenses` if the spec limits no license: such a check can never fail. */
export function licensesCheck(spec: Partly<IntentSpec>): readonly Issue[] {
  const { allowedSpdx = [], forbidNewLicenses = false } = spec.constraints?.licensing ?? {};
  if (allowedSpdx.length > 0 || forbidNewLicenses) return [];
  return checksOf(spec).flatMap(({ path, check: { kind, command } }) =>
    kind === 'policy' && command?.trim().split(/\s+/, 1)[0] === 'licenses'
      ? [
          warning(
            'SEMANTIC_LICENSES_UNLIMITED',
            `${path}/command`,
            'expected `allowedSpdx` or `forbidNewLicenses` to limit licenses, found neither: this check can refuse nothing. List the allowed licenses, or remove the check',
          ),
        ]
      : [],
  );
}

/** Recommended timeouts are below these values, in seconds. Release checks have no recommendation. */
const belowSeconds: Readonly<Partial<Record<CheckList, number>>> = {
  fastChecks: 600,
  integrationChecks: 3600,
  securityChecks: 7200,
};

/** Warns where an author writes a longer time-out than recommended; the default is not the author's word. */
export function recommendedTimeouts(spec: Partly<IntentSpec>): readonly Issue[] {
  return checksOf(spec).flatMap(({ list, path, check: { timeoutSeconds } }) => {
    const limit = belowSeconds[list];
    if (limit === undefined || timeoutSeconds === undefined || timeoutSeconds < limit) return [];
    return [
      warning(
        'SEMANTIC_TIMEOUT_RECOMMENDED',
        `${path}/timeoutSeconds`,
        `expected less than ${limit} seconds in ${list}, found ${timeoutSeconds}`,
      ),
    ];
  });
}

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

const reports: readonly ArtifactName[] = ['sast-report', 'sca-report', 'sbom'];

/** Security checks, if there are any, together produce the three required reports. */
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

/**
 * Refuses a runtime that no run could check. The schema accepts any text; this rule accepts only known tools and
 * versions.
 */
export function languageRuntime(spec: Partly<IntentSpec>): readonly Issue[] {
  const text = spec.constraints?.platform?.languageRuntime;
  const read = text === undefined ? [] : readLanguageRuntime(text);
  if (!('message' in read)) return [];
  return [error('SEMANTIC_LANGUAGE_RUNTIME', '/constraints/platform/languageRuntime', read.message)];
}
