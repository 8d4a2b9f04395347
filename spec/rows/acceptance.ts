/* Ledger rows of the section `acceptance`. */
import type { EffectiveCheck, EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { checkLists } from '../checks-of.ts';
import { always, inSection } from '../contract-row.ts';

const checks = '/acceptance/verificationPlan/*/*';

export const acceptanceRows = [
  ...inSection('Acceptance', [
    {
      id: 'acceptance.successCriteria',
      path: '/acceptance/successCriteria',
      rule: 'stored as acceptance criteria of the Task',
      asks: always,
      enforcedBy: 'core',
    },
    ...checkLists.map((list) => ({
      id: `acceptance.verificationPlan.${list}`,
      path: `/acceptance/verificationPlan/${list}`,
      rule: 'run in its stage',
      asks: (spec: EffectiveIntentSpec) => spec.acceptance.verificationPlan[list].length > 0,
      enforcedBy: 'core',
    })),
    {
      id: 'acceptance.verificationPlan#order',
      path: '/acceptance/verificationPlan',
      rule: 'a stage starts only when the one before it passed',
      asks: always,
      enforcedBy: 'core',
    },
    {
      id: 'acceptance.verificationPlan.securityChecks#reports',
      path: '/acceptance/verificationPlan/securityChecks',
      rule: 'security checks produce `sast-report`, `sca-report` and `sbom` between them',
      asks: (spec) => spec.acceptance.verificationPlan.securityChecks.length > 0,
      enforcedBy: 'core',
    },
    {
      id: 'acceptance.qualityGates.requireNewTestsWhenBugfix',
      path: '/acceptance/qualityGates/requireNewTestsWhenBugfix',
      rule: 'a bugfix whose patch adds no test case is refused',
      asks: ({ intent, acceptance }) =>
        intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix,
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.requireNewTestsWhenBugfix#ran',
      path: '/acceptance/qualityGates/requireNewTestsWhenBugfix',
      rule: 'a bugfix of whose new test cases no fast suite runs one is refused',
      asks: ({ intent, acceptance }) =>
        intent.changeType === 'bugfix' && acceptance.qualityGates.requireNewTestsWhenBugfix,
      enforcedBy: 'core',
    },
    {
      id: 'acceptance.qualityGates.requireNewTestsWhenBugfix=false',
      path: '/acceptance/qualityGates/requireNewTestsWhenBugfix',
      rule: 'a bugfix needs no test case',
      asks: ({ intent, acceptance }) =>
        intent.changeType === 'bugfix' && !acceptance.qualityGates.requireNewTestsWhenBugfix,
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=none',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'zero tolerance: any failing integration check fails its stage, an old failure too',
      asks: (spec) => tolerates(spec, 'none'),
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=none#speed',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'measured speed within the noise of the base',
      asks: (spec) => tolerates(spec, 'none'),
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=low',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'an old failure is reported and blocks nothing',
      asks: (spec) => tolerates(spec, 'low'),
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=low#speed',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'measured speed within 5 % of the base',
      asks: (spec) => tolerates(spec, 'low'),
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=medium',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'an old failure is reported and blocks nothing',
      asks: (spec) => tolerates(spec, 'medium'),
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression=medium#speed',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'measured speed within 20 % of the base',
      asks: (spec) => tolerates(spec, 'medium'),
      enforcedBy: 'gates',
    },
    {
      id: 'acceptance.qualityGates.maxAllowedRegression#regression',
      path: '/acceptance/qualityGates/maxAllowedRegression',
      rule: 'a failure that the base has not is a regression, whatever is tolerated',
      asks: (spec) => tolerates(spec, 'low', 'medium'),
      enforcedBy: 'gates',
    },
  ]),
  ...inSection('Check', [
    {
      id: 'check.id',
      path: `${checks}/id`,
      rule: 'unique over all lists',
      asks: hasCheck(always),
      enforcedBy: 'core',
    },
    {
      id: 'check.id#evidence',
      path: `${checks}/id`,
      rule: 'names the evidence of its check',
      asks: hasCheck(always),
      enforcedBy: 'core',
    },
    {
      id: 'check.kind=command',
      path: `${checks}/kind`,
      rule: 'a shell command; its exit code decides',
      asks: hasCheck(({ kind }) => kind === 'command'),
      enforcedBy: 'gates',
    },
    {
      id: 'check.kind=testSuite',
      path: `${checks}/kind`,
      rule: 'a parsed report beside the exit code',
      asks: hasCheck(({ kind }) => kind === 'testSuite'),
      enforcedBy: 'gates',
    },
    {
      id: 'check.kind=testSuite#executed',
      path: `${checks}/kind`,
      rule: 'a run in which no test executed fails',
      asks: hasCheck(({ kind }) => kind === 'testSuite'),
      enforcedBy: 'gates',
    },
    {
      id: 'check.kind=policy',
      path: `${checks}/kind`,
      rule: 'the first word names a registered rule',
      asks: hasCheck(({ kind }) => kind === 'policy'),
      enforcedBy: 'gates',
    },
    {
      id: 'check.kind=policy#require-approvers',
      path: `${checks}/kind`,
      rule: 'the run waits for signed approvals',
      asks: hasCheck((check) => policyOf(check) === 'require-approvers'),
      enforcedBy: 'gates',
    },
    {
      id: 'check.kind=policy#verify-provenance',
      path: `${checks}/kind`,
      rule: 'provenance is verified before release',
      asks: hasCheck((check) => policyOf(check) === 'verify-provenance'),
      enforcedBy: 'gates',
    },
    {
      id: 'check.command',
      path: `${checks}/command`,
      rule: 'every simple command in it passes `security.toolAcl` before it is run',
      asks: hasCheck(always),
      enforcedBy: 'core',
    },
    {
      id: 'check.command#variables',
      path: `${checks}/command`,
      rule: '`$NAME` comes from the map of the Scheduler only; an unknown one is refused',
      asks: hasCheck(({ command }) => command?.includes('$') ?? false),
      enforcedBy: 'core',
    },
    {
      id: 'check.timeoutSeconds',
      path: `${checks}/timeoutSeconds`,
      rule: 'a check past it is ended and has failed',
      asks: hasCheck(always),
      enforcedBy: 'core',
    },
    {
      id: 'check.expectedExitCode',
      path: `${checks}/expectedExitCode`,
      rule: 'the exit code that passes, any other fails the check',
      asks: hasCheck(always),
      enforcedBy: 'gates',
    },
    {
      id: 'check.required=false',
      path: `${checks}/required`,
      rule: 'its failure is reported and blocks nothing',
      asks: hasCheck(({ required }) => !required),
      enforcedBy: 'core',
    },
    {
      id: 'check.required=true',
      path: `${checks}/required`,
      rule: 'its failure fails the stage',
      asks: hasCheck(({ required }) => required),
      enforcedBy: 'gates',
    },
    {
      id: 'check.artifactsProduced',
      path: `${checks}/artifactsProduced`,
      rule: 'is there when the check has run',
      asks: hasCheck(({ artifactsProduced }) => artifactsProduced.length > 0),
      enforcedBy: 'gates',
    },
    {
      id: 'check.artifactsProduced#kept',
      path: `${checks}/artifactsProduced`,
      rule: 'what the check left of that name is kept',
      asks: hasCheck(({ artifactsProduced }) => artifactsProduced.length > 0),
      enforcedBy: 'core',
    },
    {
      id: 'check.artifactsProduced#declared',
      path: `${checks}/artifactsProduced`,
      rule: 'every name is declared in `artifacts.required`',
      asks: hasCheck(({ artifactsProduced }) => artifactsProduced.length > 0),
      enforcedBy: 'core',
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
