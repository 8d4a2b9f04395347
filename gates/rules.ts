/*
 * Metadata of every built-in rule: id, when it runs, what it reads, and how findings describe it. Its function is in
 * `rules/<id>.ts`.
 */
import type { Rule } from '../core/interfaces/rule.ts';
import { dependencyFileGlobs } from '../readers/packages/file-kind.ts';
import { languageGlobs } from '../readers/source/language.ts';
import { requiresArtifact, requiresByStage, requiresOfChecks } from './formats/required-artifact.ts';
import { manifestGlobs } from './judge-changed/judging-parts.ts';
import { requiresNewTests } from './new-tests/new-cases.ts';

/** Every reason for which a built-in gate can fail, in the order in which findings are reported. */
export const rules: readonly Rule[] = [
  {
    id: 'scope',
    point: 'patch',
    module: new URL('./rules/scope.ts', import.meta.url),
    linear: true,
    text: {
      about: 'The change stays within the scope of its contract.',
      tags: ['maintainability'],
    },
  },
  {
    id: 'no-direct-eval',
    point: 'patch',
    module: new URL('./rules/no-direct-eval.ts', import.meta.url),
    linear: true,
    reads: languageGlobs,
    appliesTo: (spec) => spec.security.outputHandling.noDirectEval,
    text: {
      about: 'Added lines do not execute text directly.',
      securitySeverity: '8.8',
      tags: ['security', 'external/cwe/cwe-95'],
    },
  },
  {
    id: 'secrets',
    point: 'patch',
    module: new URL('./rules/secrets.ts', import.meta.url),
    linear: true,
    readsStanding: true,
    findsSecrets: true,
    text: {
      about: 'Added lines hold no credential.',
      securitySeverity: '8.0',
      tags: ['security', 'external/cwe/cwe-798'],
    },
  },
  {
    id: 'suppressions',
    point: 'patch',
    module: new URL('./rules/suppressions.ts', import.meta.url),
    linear: true,
    text: {
      about: 'Inline suppressions are seen by a reviewer.',
      tags: ['maintainability'],
    },
  },
  {
    id: 'new-tests',
    point: 'patch',
    module: new URL('./rules/new-tests.ts', import.meta.url),
    linear: true,
    judgesWhole: true,
    reads: languageGlobs,
    executed: async () => (await import('./rules/new-tests.ts')).executed,
    scan: { needsBothSides: true, asked: 'where-named' },
    appliesTo: requiresNewTests,
    text: {
      about: 'A fix brings at least one new test case.',
      tags: ['reliability'],
    },
  },
  {
    id: 'judge-changed',
    point: 'patch',
    module: new URL('./rules/judge-changed.ts', import.meta.url),
    linear: true,
    judgesWhole: true,
    readsJudge: true,
    reads: manifestGlobs,
    scan: { needsBothSides: true, asked: 'where-named' },
    text: {
      about: 'Verification inputs of checks change only under a review.',
      help: 'Let a person approve the change, or leave scripts and configuration of checks as they are.',
      securitySeverity: '7.0',
      tags: ['security', 'supply-chain'],
    },
  },
  {
    id: 'tests-kept',
    point: 'patch',
    module: new URL('./rules/tests-kept.ts', import.meta.url),
    linear: true,
    judgesWhole: true,
    reads: languageGlobs,
    executed: async () => (await import('./tests-kept/executed.ts')).executed,
    scan: { needsBothSides: true, asked: 'where-named' },
    text: {
      about: 'Test cases are kept, and assert as they did.',
      help: 'Keep the case, or let an objective of the contract say that it goes.',
      tags: ['reliability'],
    },
  },
  {
    id: 'undeclared-api',
    point: 'patch',
    module: new URL('./rules/undeclared-api.ts', import.meta.url),
    reads: languageGlobs,
    appliesTo: ({ execution }) => execution.replan.triggers.includes('unknown-api'),
    scan: { asked: 'where-named', severity: 'warning' },
    text: {
      about: 'Added lines call no API that the contract does not declare.',
      help: 'Name the endpoint in `intent.touchHints.apis`, or do without it.',
      tags: ['maintainability'],
    },
  },
  {
    id: 'new-dependency',
    point: 'patch',
    module: new URL('./rules/new-dependency.ts', import.meta.url),
    linear: true,
    judgesWhole: true,
    reads: dependencyFileGlobs,
    readsUnchanged: true,
    scan: { needsBothSides: true, severity: 'warning' },
    text: {
      about: 'New dependencies are allowed and reviewed.',
      securitySeverity: '5.0',
      tags: ['security', 'supply-chain'],
    },
  },
  {
    id: 'licenses',
    point: 'patch',
    module: new URL('./rules/licenses.ts', import.meta.url),
    linear: true,
    judgesWhole: true,
    reads: dependencyFileGlobs,
    readsUnchanged: true,
    scan: { needsBothSides: true, severity: 'warning' },
    appliesTo: ({ constraints }) =>
      constraints.licensing.allowedSpdx.length > 0 || constraints.licensing.forbidNewLicenses,
    text: {
      about: 'New dependencies carry an allowed license.',
      tags: ['supply-chain'],
    },
  },
  {
    id: 'require-approvers',
    point: 'release',
    module: new URL('./rules/require-approvers.ts', import.meta.url),
    linear: true,
    // Runs only through a policy check: only such a check can wait, and only it sets the number of approvers.
    appliesTo: () => false,
  },
  {
    id: 'verify-provenance',
    point: 'release',
    module: new URL('./rules/verify-provenance.ts', import.meta.url),
    linear: true,
    // Runs only through a policy check. Without one, the seal is verified too.
    appliesTo: () => false,
  },
  {
    id: 'check-outcome',
    point: 'every-stage',
    module: new URL('./rules/check-outcome.ts', import.meta.url),
    linear: true,
  },
  {
    id: 'regression',
    point: 'integration',
    module: new URL('./rules/regression.ts', import.meta.url),
    linear: true,
  },
  {
    id: 'artifact-declared',
    point: 'every-stage',
    module: new URL('./rules/artifact-declared.ts', import.meta.url),
    linear: true,
  },
  {
    id: 'artifact-present',
    point: 'every-stage',
    module: new URL('./rules/artifact-present.ts', import.meta.url),
    linear: true,
  },
  {
    id: 'artifact-format',
    point: 'every-stage',
    module: new URL('./rules/artifact-format.ts', import.meta.url),
    linear: true,
    readsArtifacts: true,
  },
  {
    id: 'sast',
    point: 'security',
    module: new URL('./rules/sast.ts', import.meta.url),
    reads: languageGlobs,
    readsArtifacts: true,
    judgesChange: true,
    judgesArtifact: 'sast-report',
    rows: async () => (await import('./sast/rows.ts')).describedRows,
    appliesTo: (spec) => requiresArtifact(spec, 'sast-report'),
    text: {
      about: 'No static analysis reports an error.',
      securitySeverity: '7.0',
      tags: ['security'],
    },
  },
  {
    id: 'sca',
    point: 'security',
    module: new URL('./rules/sca.ts', import.meta.url),
    readsArtifacts: true,
    judgesArtifact: 'sca-report',
    appliesTo: (spec) => requiresByStage(spec, 'sca-report', 'security'),
    text: {
      about: 'No dependency has a known vulnerability.',
      securitySeverity: '7.0',
      tags: ['security', 'external/cwe/cwe-1395'],
    },
  },
  {
    id: 'sbom',
    point: 'security',
    module: new URL('./rules/sbom.ts', import.meta.url),
    readsArtifacts: true,
    judgesArtifact: 'sbom',
    appliesTo: (spec) => requiresOfChecks(spec, 'sbom'),
  },
];

/** The built-in rule with this id; throws if there is none. */
export function ruleOf(id: string): Rule {
  const found = rules.find((rule) => rule.id === id);
  if (found === undefined) throw new Error(`no built-in rule ${id}`);
  return found;
}
