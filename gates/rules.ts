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

const byWaiver = 'A waiver in `.writ/waivers.toml` on the target branch allows it for a path until a date.';

/** Every reason for which a built-in gate can fail, in the order in which findings are reported. */
export const rules: readonly Rule[] = [
  {
    id: 'scope',
    point: 'patch',
    module: new URL('./rules/scope.ts', import.meta.url),
    linear: true,
    text: {
      about: 'The change stays within the scope of its spec.',
      tags: ['maintainability'],
    },
    guide: {
      refuses:
        'A changed file outside the paths of the spec. Also a change that undoes an earlier commit of the branch and changes something else too (`writ help queue.md`).',
      example: '`intent.inScope` is `src/`, and the change edits `package.json`.',
      mend: 'Remove the file from the change, or add it to `intent.inScope` or `intent.touchHints.files`. Make a change that undoes a commit again on top of the branch.',
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
      about: 'Added lines do not execute text as code or as a command.',
      securitySeverity: '8.8',
      tags: ['security', 'external/cwe/cwe-95'],
    },
    guide: {
      refuses: 'An added line that runs text as code or as a command: `eval`, `exec`, a shell.',
      example: '`execSync("rm -rf " + path)`',
      mend: 'For a command, start the program with a list of arguments. For `eval`, parse the text instead (`writ help direct-execution`).',
      allow: `\`security.outputHandling.noDirectEval: false\` in the spec. For existing findings: \`writ baseline\`. ${byWaiver}`,
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
      mend: 'Remove it, and revoke it: everyone who has the patch has the secret. Read it from the environment instead.',
      allow:
        '`[rules.secrets]` in `.writ/config.toml` on the target branch lists values that are no secrets.',
    },
  },
  {
    id: 'suppressions',
    point: 'patch',
    module: new URL('./rules/suppressions.ts', import.meta.url),
    linear: true,
    text: {
      about: 'A reviewer sees comments that silence a tool.',
      tags: ['maintainability'],
    },
    guide: {
      refuses: 'Nothing: it only reports added comments that silence a tool (`eslint-disable`, `# noqa`).',
      example: '`# type: ignore`',
      mend: 'Remove the comment, or explain in it why it is needed.',
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
      about: 'A bugfix adds at least one test.',
      tags: ['reliability'],
    },
    guide: {
      refuses:
        'A bugfix without a new test. A new test that also passes without the fix is a warning (`NEW_TEST_PASSES_AT_BASE`).',
      example: 'A change of type `bugfix` that edits only `src/price.js`.',
      mend: 'Add a test that fails without the fix. For a change without code, use the type `docs` or `chore`.',
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
      about: 'Files that decide whether a check passes change only with a review.',
      help: 'Let a person approve the change, or do not change scripts and configuration of checks.',
      securitySeverity: '7.0',
      tags: ['security', 'supply-chain'],
    },
    guide: {
      refuses:
        'A changed script, configuration or test runner of a check, if the check fails with the old one.',
      example: 'The change edits `scripts.test` of `package.json`.',
      mend: 'Keep the check passing with its old files too. If it now expects something else, people approve the change: `writ rules judge-changed` says how.',
      allow:
        'Commit `.writ/allowed_signers`, and `[[checks.always]]` with `command = "judge-changed --min 1"` in `.writ/config.toml`, to the target branch (`writ help tests-kept`). Seal the change again; people approve it with `writ approve RUN`. In a spec: `risk.humanInLoop.required`.',
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
      about: 'Tests are kept, and still assert the same.',
      help: 'Keep the test, or name the removed test in an objective of the spec (with `writ seal`: in the message).',
      tags: ['reliability'],
    },
    guide: {
      refuses: 'A test that the change deletes, skips, empties, or makes less strict.',
      example: '`it.skip("rounds up")`',
      mend: 'Keep the test, or name it and the reason in an objective of the spec. With `writ seal`, that is the message: `-m "test: remove NAME, because …"`.',
      allow: 'An objective of the spec names the removed test.',
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
      about: 'Added lines call only APIs that the spec names.',
      help: 'Add the endpoint to `intent.touchHints.apis`, or remove the call.',
      tags: ['maintainability'],
    },
    guide: {
      refuses:
        'A call to an HTTP endpoint that the spec does not name. It applies only if the spec has the trigger `unknown-api`.',
      example: '`fetch("https://api.example.org/v2/users")`',
      mend: 'Add the endpoint to `intent.touchHints.apis`, or remove the call.',
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
      about: 'New dependencies are allowed by the spec, and reviewed.',
      securitySeverity: '5.0',
      tags: ['security', 'supply-chain'],
    },
    guide: {
      refuses: 'A new dependency, also an indirect one in a lockfile.',
      example: '`"left-pad": "1.3.0"` in `package.json`.',
      mend: 'Remove the dependency, or use one that the project already has.',
      allow:
        '`constraints.security.dependencyPolicy: allow-with-review` in the spec. The run then needs the artifact `sca-report`, and waits for an approval.',
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
      refuses: 'A new dependency whose license is unknown or not allowed.',
      example: 'A package under `AGPL-3.0-only` where `allowedSpdx` is `["MIT"]`.',
      mend: 'Use a package with an allowed license.',
      allow: `\`constraints.licensing\` of the spec, or \`[licenses]\` in \`.writ/config.toml\` on the target branch for one package. ${byWaiver}`,
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
        'A change with too few approvals from people in `.writ/allowed_signers`. Until they have decided, the run waits (exit 4).',
      example: 'The check needs two approvals, and the change has one.',
      mend: 'Let others approve with `writ approve RUN`, then `writ resume RUN`. Approvals by authors of the change do not count.',
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
      refuses: 'A sealed commit whose signature, subjects or log entry others cannot verify.',
      example: 'The transparency log does not answer.',
      mend: 'Correct the fault that the finding names, then `writ resume RUN`.',
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
      mend: 'Read the last output of the check (`writ show`), correct the change, and run again.',
      allow: '`required: false` for that check in the spec.',
    },
  },
  {
    id: 'regression',
    point: 'integration',
    module: new URL('./rules/regression.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'A metric or an integration check that is worse than without the change.',
      example: '`maxAllowedRegression` is `none`, and a test fails that passed before the change.',
      mend: 'Correct the change until the result is as good as before it.',
      allow: '`acceptance.qualityGates.maxAllowedRegression` in the spec.',
    },
  },
  {
    id: 'artifact-declared',
    point: 'every-stage',
    module: new URL('./rules/artifact-declared.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'An artifact (output file) of a check that the spec does not name.',
      example: 'A check claims `coverage`, and `artifacts.required` has no such name.',
      mend: 'Add it to `artifacts.required`, or remove it from `artifactsProduced`.',
    },
  },
  {
    id: 'artifact-present',
    point: 'every-stage',
    module: new URL('./rules/artifact-present.ts', import.meta.url),
    linear: true,
    guide: {
      refuses: 'A required artifact (output file) that is missing at the end.',
      example: '`artifacts.required` names `test-log`, and no check produces it.',
      mend: 'Let a check write it to `$REPORTS_DIR`, and list it in `artifactsProduced`.',
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
      refuses: 'An artifact (output file) that does not have the format in the spec.',
      example: '`format` is `sarif`, and the file is plain text.',
      mend: 'Let the check write the file in that format.',
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
      mend: 'Correct the line that the finding names.',
      allow: `\`[rules.sast]\` in \`.writ/config.toml\` on the target branch, with owner and reason. For existing findings: \`writ baseline\`. ${byWaiver}`,
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
      refuses: 'A dependency with a known vulnerability. Also a run without imported advisories.',
      example: '`lodash 4.17.20`: `GHSA-35jh-r3h4-6jhm`',
      mend: 'Update the package. If advisories are missing or old, import them: `writ sca import FILE`.',
      allow:
        '`[rules.sca]` in `.writ/config.toml` on the target branch, with owner and expiry. For existing findings: `writ baseline`.',
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
      refuses: 'A bill of materials (SBOM) that is missing, not valid, or does not match the changed files.',
      example: 'The SBOM lists no package, and the lockfile lists ten.',
      mend: 'Let writ create it (the built-in producer), or correct the check that creates it.',
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
