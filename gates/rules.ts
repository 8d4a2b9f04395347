/*
 * Metadata of every built-in rule: id, when it runs, what it reads, and how findings describe it. Its function is in
 * `rules/<id>.ts`.
 */
import type { ArtifactStage, EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { Rule } from '../core/interfaces/rule.ts';
import { type StageName, stageNames } from '../core/interfaces/stage.ts';
import { dependencyFileGlobs } from '../readers/packages/file-kind.ts';
import { languageGlobs } from '../readers/source/language.ts';
import { gateOf, lookedForAt } from '../spec/checks-of.ts';
import { manifestGlobs } from './judge-changed/judging-parts.ts';
import { requiresNewTests } from './new-tests/new-cases.ts';

const byReview = 'A spec whose `risk.humanInLoop.required` is true lets people decide: `writ approve RUN`.';

const byWaiver = 'A waiver in `.writ/waivers.toml` at the policy commit allows it in a path, until a day.';

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
    guide: {
      refuses:
        'A file outside the paths that the spec names; a change that takes back what landed before it, and does something else as well (`docs/guides/queue.md`).',
      example: '`intent.inScope` is `src/`, and the change edits `package.json`.',
      mend: 'Leave the file out of the change, or name it in `intent.inScope` or `intent.touchHints.files`. Make a change that takes something back again, on the tip.',
    },
  },
  {
    id: 'no-direct-eval',
    point: 'patch',
    module: new URL('./rules/no-direct-eval.ts', import.meta.url),
    waivable: true,
    linear: true,
    reads: languageGlobs,
    appliesTo: (spec) => spec.security.outputHandling.noDirectEval,
    baseline: { isOfLines: true, about: ({ call }) => textOf(call) },
    text: {
      about: 'Added lines do not execute text directly.',
      securitySeverity: '8.8',
      tags: ['security', 'external/cwe/cwe-95'],
    },
    guide: {
      refuses: 'An added line that runs text as code or as a command: `eval`, `exec`, a shell.',
      example: '`execSync("rm -rf " + path)`',
      mend: 'Start a program with a list of arguments; parse data instead of evaluating it. `writ help direct-execution` has the definition.',
      allow: `\`security.outputHandling.noDirectEval: false\` in the spec. What exists already: \`writ baseline\`. ${byWaiver}`,
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
    guide: {
      refuses: 'An added credential: a token, a private key, a password beside its name.',
      example: '`const token = "ghp_…"`',
      mend: 'Remove it from the change, and revoke it: who has the patch has the secret. Read it from the environment.',
      allow: '`[rules.secrets]` of `.writ/config.toml` at the policy commit names values that are none.',
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
    guide: {
      refuses: 'Nothing by itself: it shows added comments that silence a tool (`eslint-disable`, `# noqa`).',
      example: '`# type: ignore`',
      mend: 'Remove the comment, or say why it is needed.',
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
    guide: {
      refuses: 'A bugfix without a test that fails before it and passes with it.',
      example: 'A change of type `bugfix` that edits `src/price.js` alone.',
      mend: 'Add a test that shows the fault. A correction of prose is a `docs` or `chore`.',
      allow: '`acceptance.qualityGates.requireNewTestsWhenBugfix: false` in the spec.',
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
    guide: {
      refuses:
        'A changed script, configuration or runner that decides whether a check passes, if the old one refuses the change.',
      example: 'The change edits `scripts.test` of `package.json`.',
      mend: 'Make that edit a change of its own, or keep the check as it is.',
      allow: byReview,
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
    guide: {
      refuses: 'A test that is deleted, skipped, emptied or expects less.',
      example: '`it.skip("rounds up")`',
      mend: 'Keep the test, or change it together with an objective that says why.',
      allow: 'An objective of the spec names the test that goes.',
    },
  },
  {
    id: 'undeclared-api',
    point: 'patch',
    module: new URL('./rules/undeclared-api.ts', import.meta.url),
    waivable: true,
    reads: languageGlobs,
    appliesTo: ({ execution }) => execution.replan.triggers.includes('unknown-api'),
    scan: { asked: 'where-named', severity: 'warning' },
    text: {
      about: 'Added lines call no API that the contract does not declare.',
      help: 'Name the endpoint in `intent.touchHints.apis`, or do without it.',
      tags: ['maintainability'],
    },
    guide: {
      refuses:
        'A call of an HTTP endpoint that the spec does not name (only where `unknown-api` is a trigger of the spec).',
      example: '`fetch("https://api.example.org/v2/users")`',
      mend: 'Name the endpoint in `intent.touchHints.apis`, or do without it.',
      allow: byWaiver,
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
    guide: {
      refuses: 'A dependency that the base does not have, also an indirect one in a lockfile.',
      example: '`"left-pad": "1.3.0"` in `package.json`.',
      mend: 'Do without it, or use one that is there.',
      allow:
        '`constraints.security.dependencyPolicy: allow-with-review` in the spec; it then needs `sca-report`, and waits for a person.',
    },
  },
  {
    id: 'licenses',
    point: 'patch',
    module: new URL('./rules/licenses.ts', import.meta.url),
    waivable: true,
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
    guide: {
      refuses: 'A new dependency whose license is not allowed or not known.',
      example: 'A package under `AGPL-3.0-only` where `allowedSpdx` is `["MIT"]`.',
      mend: 'Use another package.',
      allow: `\`constraints.licensing\` of the spec, or \`[licenses]\` at the policy commit for one package. ${byWaiver}`,
    },
  },
  {
    id: 'require-approvers',
    point: 'release',
    module: new URL('./rules/require-approvers.ts', import.meta.url),
    linear: true,
    // Runs only through a policy check: only such a check can wait, and only it sets the number of approvers.
    appliesTo: () => false,
    guide: {
      refuses:
        'A change that too few of the people in `.writ/allowed_signers` have approved. It waits first (exit 4).',
      example: 'Two approvals are needed, and one counts.',
      mend: '`writ approve RUN`, then `writ resume RUN`. Authors of the change do not count.',
    },
  },
  {
    id: 'verify-provenance',
    point: 'release',
    module: new URL('./rules/verify-provenance.ts', import.meta.url),
    linear: true,
    // Runs only through a policy check. Without one, the seal is verified too.
    appliesTo: () => false,
    guide: {
      refuses: 'A seal that a stranger could not verify: signature, subjects, log entry.',
      example: 'The log does not answer.',
      mend: 'Mend what the finding names, then `writ resume RUN`.',
    },
  },
  {
    id: 'check-outcome',
    point: 'every-stage',
    module: new URL('./rules/check-outcome.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'A required check that failed, timed out, or has no valid report.',
      example: '`npm test` ends with exit code 1.',
      mend: 'Read its last lines (`writ show RUN`), mend the change, and run it again.',
      allow: '`required: false` for that check in the spec.',
    },
  },
  {
    id: 'regression',
    point: 'integration',
    module: new URL('./rules/regression.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'A metric or an integration check that is worse than at the base.',
      example: '`maxAllowedRegression` is `none`, and a test fails that passed at the base.',
      mend: 'Mend the change until it is as good as the base.',
      allow: '`acceptance.qualityGates.maxAllowedRegression` in the spec.',
    },
  },
  {
    id: 'artifact-declared',
    point: 'every-stage',
    module: new URL('./rules/artifact-declared.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'An artifact that a check made although the spec does not name it.',
      example: 'A check claims `coverage`, and `artifacts.required` has no such name.',
      mend: 'Name it in `artifacts.required`, or take it out of `artifactsProduced`.',
    },
  },
  {
    id: 'artifact-present',
    point: 'every-stage',
    module: new URL('./rules/artifact-present.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'A required artifact that no check and no producer made.',
      example: '`artifacts.required` names `test-log`, and no check produces it.',
      mend: 'Let a check write it to `$REPORTS_DIR` and claim it in `artifactsProduced`.',
      allow: '`required: false` for that artifact in the spec.',
    },
  },
  {
    id: 'artifact-format',
    point: 'every-stage',
    module: new URL('./rules/artifact-format.ts', import.meta.url),
    linear: true,
    readsArtifacts: true,
    guide: {
      refuses: 'An artifact whose content is not in the format that the spec names.',
      example: '`format` is `sarif`, and the file is plain text.',
      mend: 'Let the check write that format.',
    },
  },
  {
    id: 'sast',
    point: 'security',
    module: new URL('./rules/sast.ts', import.meta.url),
    waivable: true,
    reads: languageGlobs,
    readsArtifacts: true,
    judgesChange: true,
    judgesArtifact: 'sast-report',
    baseline: { isOfLines: true, about: ({ row, call }) => textOf(row, call) },
    rows: async () => (await import('./sast/rows.ts')).describedRows,
    appliesTo: (spec) => requiresArtifact(spec, 'sast-report'),
    text: {
      about: 'No static analysis reports an error.',
      securitySeverity: '7.0',
      tags: ['security'],
    },
    guide: {
      refuses: 'A static analysis that reports an error.',
      example: 'A SARIF result of level `error` in an added line.',
      mend: 'Mend the place that the finding names.',
      allow: `\`[rules.sast]\` at the policy commit, with owner and reason. What exists already: \`writ baseline\`. ${byWaiver}`,
    },
  },
  {
    id: 'sca',
    point: 'every-stage',
    module: new URL('./rules/sca.ts', import.meta.url),
    readsArtifacts: true,
    judgesArtifact: 'sca-report',
    baseline: {
      // A longer list of packages is cut.
      about: ({ id, packages }) =>
        Array.isArray(packages) && packages.length < 20 ? textOf(id, ...packages) : undefined,
    },
    appliesTo: (spec, at) => at === scaStage(spec),
    text: {
      about: 'No dependency has a known vulnerability.',
      securitySeverity: '7.0',
      tags: ['security', 'external/cwe/cwe-1395'],
    },
    guide: {
      refuses: 'A dependency with a known vulnerability, or a lookup without advisories.',
      example: '`lodash 4.17.20`: `GHSA-35jh-r3h4-6jhm`',
      mend: 'Update the package. Advisories come from `writ sca import FILE`.',
      allow:
        '`[rules.sca]` at the policy commit, with owner and expiry. What exists already: `writ baseline`.',
    },
  },
  {
    id: 'sbom',
    point: 'security',
    module: new URL('./rules/sbom.ts', import.meta.url),
    readsArtifacts: true,
    judgesArtifact: 'sbom',
    appliesTo: (spec) => requiresOfChecks(spec, 'sbom'),
    guide: {
      refuses: 'A bill of materials that is missing, malformed, or not that of the candidate.',
      example: 'The SBOM lists no package, and the lockfile lists ten.',
      mend: 'Let the built-in producer make it, or mend the check that does.',
    },
  },
];

/** The security stage, or the release stage where the report is made only there and no check there evaluates it. */
function scaStage(spec: EffectiveIntentSpec): StageName | undefined {
  if (requiresByStage(spec, 'sca-report', 'security')) return 'security';
  const isChecked = spec.acceptance.verificationPlan.releaseChecks.some(
    ({ kind, command = '' }) => kind === 'policy' && /^sca(?:\s|$)/.test(command.trim()),
  );
  return requiresArtifact(spec, 'sca-report') && !isChecked ? 'release' : undefined;
}

/** The words in one text; `undefined` if one of them is none. */
function textOf(...words: readonly unknown[]): string | undefined {
  return words.every((word) => typeof word === 'string') ? words.join(' ') : undefined;
}

/** The built-in rule with this id; throws if there is none. */
export function ruleOf(id: string): Rule {
  const found = rules.find((rule) => rule.id === id);
  if (found === undefined) throw new Error(`no built-in rule ${id}`);
  return found;
}

function requiresArtifact({ artifacts }: EffectiveIntentSpec, name: string): boolean {
  return artifacts.required.some((artifact) => artifact.name === name && artifact.required);
}

/** Whether the security stage lists checks and the spec requires this report. */
function requiresOfChecks(spec: EffectiveIntentSpec, name: string): boolean {
  return spec.acceptance.verificationPlan.securityChecks.length > 0 && requiresArtifact(spec, name);
}

/**
 * Whether the spec requires this report at this gate or an earlier one, from any producer, or from its security
 * checks.
 */
function requiresByStage(spec: EffectiveIntentSpec, name: string, gate: ArtifactStage): boolean {
  const isInTime = (entry: Parameters<typeof lookedForAt>[1]): boolean =>
    stageNames.indexOf(lookedForAt(spec, entry)) <= stageNames.indexOf(gateOf[gate]);
  return (
    requiresOfChecks(spec, name) ||
    spec.artifacts.required.some((entry) => entry.name === name && entry.required && isInTime(entry))
  );
}
