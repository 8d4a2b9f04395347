import type { EffectiveCheck, EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { checkLists } from '../checks-of.ts';
import { always, inSection } from '../contract-row.ts';

const checks = '/acceptance/verificationPlan/*/*';

/** Of each list a run that would end otherwise without it. */
const runCases = {
  fastChecks: 'fixtures/runs/an-unexpected-exit-code-refuses',
  integrationChecks: 'fixtures/runs/an-old-failure-is-not-tolerated-under-none',
  securityChecks: 'fixtures/runs/security-checks-judge-the-reports-that-the-same-stage-made',
  releaseChecks: 'fixtures/runs/a-new-dependency-waits-for-its-licence-review',
} as const;

export const acceptanceRows = [
  ...inSection('Acceptance', [
    {
      id: 'acceptance.successCriteria',
      path: '/acceptance/successCriteria',
      rule: 'stored as acceptance criteria of the Task',
      asks: always,
      enforcedBy: 'core',
      test: 'test/engine/run/field-effects.test.ts',
    },
    ...checkLists.map((list) => ({
      id: `acceptance.verificationPlan.${list}`,
      path: `/acceptance/verificationPlan/${list}`,
      rule: 'run in its stage',
      asks: (spec: EffectiveIntentSpec) => spec.acceptance.verificationPlan[list].length > 0,
      enforcedBy: 'core',
      test: runCases[list],
    })),
    {
      id: 'acceptance.verificationPlan#order',
      path: '/acceptance/verificationPlan',
      rule: 'a stage starts only when the one before it passed',
      asks: always,
      enforcedBy: 'core',
      test: 'fixtures/runs/a-later-stage-never-starts-after-a-failed-one',
    },
    {
      id: 'acceptance.verificationPlan.securityChecks#reports',
      path: '/acceptance/verificationPlan/securityChecks',
      rule: 'security checks produce `sast-report`, `sca-report` and `sbom` between them',
      asks: (spec) => spec.acceptance.verificationPlan.securityChecks.length > 0,
      enforcedBy: 'core',
      test: 'test/engine/spec/rules.test.ts',
    },
    {
      id: 'acceptance.qualityGates.requireNewTestsWhenBugfix',
      path: '/acceptance/qualityGates/requireNewTestsWhenBugfix',
      rule: 'a bugfix whose patch adds no test case is refused',
      asks: ({ intent, acceptance }) =>
        intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix,
      enforcedBy: 'gates',
      test: 'fixtures/runs/a-fix-without-a-new-test-is-refused',
    },
    {
      id: 'acceptance.qualityGates.requireNewTestsWhenBugfix#ran',
      path: '/acceptance/qualityGates/requireNewTestsWhenBugfix',
      rule: 'a bugfix of whose new test cases no fast suite runs one is refused',
      asks: ({ intent, acceptance }) =>
        intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix,
      enforcedBy: 'core',
      test: 'fixtures/runs/a-fix-whose-new-test-no-fast-check-runs-is-refused',
    },
    {
      id: 'acceptance.qualityGates.requireNewTestsWhenBugfix=false',
      path: '/acceptance/qualityGates/requireNewTestsWhenBugfix',
      rule: 'a bugfix needs no test case',
      asks: ({ intent, acceptance }) =>
        intent.changeType === 'bugfix' && !acceptance.qualityGates.requireNewTestsWhenBugfix,
      enforcedBy: 'gates',
      test: 'fixtures/runs/a-bugfix-whose-contract-waives-new-tests-needs-none',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=none',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'zero tolerance: any failing integration check fails its stage, an old failure too',
      asks: (spec) => tolerates(spec, 'none'),
      enforcedBy: 'gates',
      test: 'fixtures/runs/an-old-failure-is-not-tolerated-under-none',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=none#speed',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'measured speed within the noise of the base',
      asks: (spec) => tolerates(spec, 'none'),
      enforcedBy: 'gates',
      test: 'test/gates/rules/regression.test.ts',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=low',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'an old failure is told and blocks nothing',
      asks: (spec) => tolerates(spec, 'low'),
      enforcedBy: 'gates',
      test: 'fixtures/runs/an-old-failure-is-tolerated-under-low',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=low#speed',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'measured speed within 5 % of the base',
      asks: (spec) => tolerates(spec, 'low'),
      enforcedBy: 'gates',
      test: 'fixtures/runs/a-metric-worse-than-low-allows-is-refused',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=medium',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'an old failure is told and blocks nothing',
      asks: (spec) => tolerates(spec, 'medium'),
      enforcedBy: 'gates',
      test: 'test/engine/run/judge/regression/compare-with-base.test.ts',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=medium#speed',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'measured speed within 20 % of the base',
      asks: (spec) => tolerates(spec, 'medium'),
      enforcedBy: 'gates',
      test: 'fixtures/runs/a-metric-worse-but-within-medium-is-accepted',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression#regression',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'a failure that the base has not is a regression, whatever is tolerated',
      asks: (spec) => tolerates(spec, 'low', 'medium'),
      enforcedBy: 'gates',
      test: 'fixtures/runs/a-new-failure-is-a-regression-under-medium',
    },
  ]),
  ...inSection('Check', [
    {
      id: 'check.id',
      path: `${checks}/id`,
      rule: 'unique over all lists',
      asks: hasCheck(always),
      enforcedBy: 'core',
      test: 'test/engine/spec/rules.test.ts',
    },
    {
      id: 'check.id#evidence',
      path: `${checks}/id`,
      rule: 'names the evidence of its check',
      asks: hasCheck(always),
      enforcedBy: 'core',
      test: 'test/engine/run/field-effects.test.ts',
    },
    {
      id: 'check.kind=command',
      path: `${checks}/kind`,
      rule: 'a shell command, judged by its exit code',
      asks: hasCheck(({ kind }) => kind === 'command'),
      enforcedBy: 'gates',
      test: 'test/gates/checks/command.test.ts',
    },
    {
      id: 'check.kind=testSuite',
      path: `${checks}/kind`,
      rule: 'a parsed report beside the exit code',
      asks: hasCheck(({ kind }) => kind === 'testSuite'),
      enforcedBy: 'gates',
      test: 'fixtures/runs/a-suite-that-exits-well-although-a-test-failed-is-refused',
    },
    {
      id: 'check.kind=testSuite#executed',
      path: `${checks}/kind`,
      rule: 'a run in which no test executed fails',
      asks: hasCheck(({ kind }) => kind === 'testSuite'),
      enforcedBy: 'gates',
      test: 'test/gates/checks/test-suite.test.ts',
    },
    {
      id: 'check.kind=policy',
      path: `${checks}/kind`,
      rule: 'the first word names a registered rule',
      asks: hasCheck(({ kind }) => kind === 'policy'),
      enforcedBy: 'gates',
      test: 'test/engine/run/field-effects.test.ts',
    },
    {
      id: 'check.kind=policy#require-approvers',
      path: `${checks}/kind`,
      rule: 'the run waits for signed approvals',
      asks: hasCheck((check) => policyOf(check) === 'require-approvers'),
      enforcedBy: 'gates',
      test: 'test/gates/rules/require-approvers.test.ts',
    },
    {
      id: 'check.kind=policy#verify-provenance',
      path: `${checks}/kind`,
      rule: 'provenance is verified before release',
      asks: hasCheck((check) => policyOf(check) === 'verify-provenance'),
      enforcedBy: 'gates',
      test: 'test/gates/rules/verify-provenance.test.ts',
    },
    {
      id: 'check.command',
      path: `${checks}/command`,
      rule: 'every simple command in it passes `security.toolAcl` before it is run',
      asks: hasCheck(always),
      enforcedBy: 'core',
      test: 'fixtures/runs/a-command-that-the-contract-does-not-allow-is-never-run',
    },
    {
      id: 'check.command#variables',
      path: `${checks}/command`,
      rule: '`$NAME` comes from the map of the Scheduler only; an unknown one is refused',
      asks: hasCheck(({ command }) => command?.includes('$') ?? false),
      enforcedBy: 'core',
      test: 'fixtures/runs/a-variable-that-the-scheduler-does-not-know-is-refused',
    },
    {
      id: 'check.timeoutSeconds',
      path: `${checks}/timeoutSeconds`,
      rule: 'a check past it is ended and has failed',
      asks: hasCheck(always),
      enforcedBy: 'core',
      test: 'fixtures/runs/a-check-past-its-time-out-refuses',
    },
    {
      id: 'check.expectedExitCode',
      path: `${checks}/expectedExitCode`,
      rule: 'the exit code that passes, any other fails the check',
      asks: hasCheck(always),
      enforcedBy: 'gates',
      test: 'fixtures/runs/the-expected-exit-code-passes-though-it-is-not-zero',
    },
    {
      id: 'check.required=false',
      path: `${checks}/required`,
      rule: 'its failure is reported and blocks nothing',
      asks: hasCheck(({ required }) => !required),
      enforcedBy: 'core',
      test: 'fixtures/runs/a-failing-check-that-is-not-required-is-reported-and-does-not-block',
    },
    {
      id: 'check.required=true',
      path: `${checks}/required`,
      rule: 'its failure fails the stage',
      asks: hasCheck(({ required }) => required),
      enforcedBy: 'gates',
      test: 'test/gates/rules/check-outcome.test.ts',
    },
    {
      id: 'check.artifactsProduced',
      path: `${checks}/artifactsProduced`,
      rule: 'is there when the check has run',
      asks: hasCheck(({ artifactsProduced }) => artifactsProduced.length > 0),
      enforcedBy: 'gates',
      test: 'test/engine/run/field-effects.test.ts',
    },
    {
      id: 'check.artifactsProduced#kept',
      path: `${checks}/artifactsProduced`,
      rule: 'what the check left of that name is kept',
      asks: hasCheck(({ artifactsProduced }) => artifactsProduced.length > 0),
      enforcedBy: 'core',
      test: 'test/engine/run/field-effects.test.ts',
    },
    {
      id: 'check.artifactsProduced#declared',
      path: `${checks}/artifactsProduced`,
      rule: 'every name is declared in `artifacts.required`',
      asks: hasCheck(({ artifactsProduced }) => artifactsProduced.length > 0),
      enforcedBy: 'core',
      test: 'test/engine/spec/rules.test.ts',
    },
  ]),
];

function hasCheck(holds: (check: EffectiveCheck) => boolean): (spec: EffectiveIntentSpec) => boolean {
  return (spec) => checkLists.some((list) => spec.acceptance.verificationPlan[list].some(holds));
}

function policyOf({ kind, command }: EffectiveCheck): string | undefined {
  return kind === 'policy' ? command?.trim().split(/\s+/, 1)[0] : undefined;
}

function tolerates({ acceptance }: EffectiveIntentSpec, ...tolerated: readonly string[]): boolean {
  const { qualityGates, verificationPlan } = acceptance;
  return (
    verificationPlan.integrationChecks.length > 0 && tolerated.includes(qualityGates.maxAllowedRegression)
  );
}
