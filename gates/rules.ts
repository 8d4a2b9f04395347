import type { Rule } from '../core/contract/rule.ts';
import { dependencyFileGlobs } from '../readers/packages/file-kind.ts';
import { manifestGlobs } from './judge-changed/judging-parts.ts';
import { languageGlobs } from './source/language.ts';

/** `.ts` from sources, `.js` when compiled. */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const fileOf = (id: string): URL => new URL(`./rules/${id}${extension}`, import.meta.url);

/** Every reason a built-in gate can fail, in the order in which findings are reported. */
export const rules: readonly Rule[] = [
  { id: 'scope', point: 'patch', module: fileOf('scope') },
  {
    id: 'no-direct-eval',
    point: 'patch',
    module: fileOf('no-direct-eval'),
    judgesWhole: true,
    reads: languageGlobs,
    appliesTo: (spec) => spec.security.outputHandling.noDirectEval,
  },
  { id: 'secrets', point: 'patch', module: fileOf('secrets'), readsStanding: true },
  { id: 'suppressions', point: 'patch', module: fileOf('suppressions') },
  {
    id: 'new-tests',
    point: 'patch',
    module: fileOf('new-tests'),
    judgesWhole: true,
    reads: languageGlobs,
    appliesTo: (spec) =>
      spec.intent.changeType === 'bugfix' && spec.acceptance.qualityGates.requireNewTestsWhenBugfix,
  },
  {
    id: 'judge-changed',
    point: 'patch',
    module: fileOf('judge-changed'),
    judgesWhole: true,
    readsJudge: true,
    reads: manifestGlobs,
  },
  { id: 'tests-kept', point: 'patch', module: fileOf('tests-kept'), judgesWhole: true, reads: languageGlobs },
  {
    id: 'new-dependency',
    point: 'patch',
    module: fileOf('new-dependency'),
    judgesWhole: true,
    reads: dependencyFileGlobs,
    readsUnchanged: true,
  },
  {
    id: 'licenses',
    point: 'patch',
    module: fileOf('licenses'),
    judgesWhole: true,
    reads: dependencyFileGlobs,
    readsUnchanged: true,
    appliesTo: ({ constraints }) =>
      constraints.licensing.allowedSpdx.length > 0 || constraints.licensing.forbidNewLicenses,
  },
  {
    id: 'require-approvers',
    point: 'release',
    module: fileOf('require-approvers'),
    // Asked by a policy check alone: only that can wait, and only it says how many.
    appliesTo: () => false,
  },
  {
    id: 'verify-provenance',
    point: 'release',
    module: fileOf('verify-provenance'),
    // Asked by a policy check alone: a contract without one has its seal verified all the same.
    appliesTo: () => false,
  },
  { id: 'check-outcome', point: 'every-stage', module: fileOf('check-outcome') },
  { id: 'regression', point: 'integration', module: fileOf('regression') },
  { id: 'artifact-declared', point: 'every-stage', module: fileOf('artifact-declared') },
  { id: 'artifact-present', point: 'every-stage', module: fileOf('artifact-present') },
  { id: 'artifact-format', point: 'every-stage', module: fileOf('artifact-format'), readsArtifacts: true },
  {
    id: 'sast',
    point: 'security',
    module: fileOf('sast'),
    reads: languageGlobs,
    readsArtifacts: true,
    judgesChange: true,
    appliesTo: (spec) => requires(spec, 'sast-report'),
  },
  {
    id: 'sca',
    point: 'security',
    module: fileOf('sca'),
    readsArtifacts: true,
    appliesTo: (spec) => declares(spec, 'sca-report'),
  },
  {
    id: 'sbom',
    point: 'security',
    module: fileOf('sbom'),
    readsArtifacts: true,
    appliesTo: (spec) => declares(spec, 'sbom'),
  },
];

/** The contract requires this report, of whoever makes it. */
function requires({ artifacts }: Parameters<NonNullable<Rule['appliesTo']>>[0], name: string): boolean {
  return artifacts.required.some((artifact) => artifact.name === name && artifact.required);
}

/** The security stage lists checks, and the contract requires this report of them. */
function declares(spec: Parameters<NonNullable<Rule['appliesTo']>>[0], name: string): boolean {
  const listed = spec.acceptance.verificationPlan.securityChecks.length > 0;
  return listed && spec.artifacts.required.some((artifact) => artifact.name === name && artifact.required);
}
