/* The built-in gates: their rules and check kinds. */
import { definePlugin } from '../core/kernel/plugin.ts';
import { ruleOf, rules } from './rules.ts';

const undeclaredApi = ruleOf('undeclared-api');

/** The check kinds and the built-in rules. Check kinds are loaded on first use. */
export const gatesPlugin = definePlugin({
  name: 'gates',
  api: 1,
  enforces: [
    'intent.changeType=docs',
    'intent.changeType=chore',
    'intent.objectives#tests-kept',
    'intent.inScope',
    'intent.outOfScope',
    'intent.touchHints.files',
    'acceptance.qualityGates.requireNewTestsWhenBugfix',
    'acceptance.qualityGates.requireNewTestsWhenBugfix=false',
    'acceptance.qualityGates.maxAllowedRegression=none',
    'acceptance.qualityGates.maxAllowedRegression=none#speed',
    'acceptance.qualityGates.maxAllowedRegression=low',
    'acceptance.qualityGates.maxAllowedRegression=low#speed',
    'acceptance.qualityGates.maxAllowedRegression=medium',
    'acceptance.qualityGates.maxAllowedRegression=medium#speed',
    'acceptance.qualityGates.maxAllowedRegression#regression',
    'check.kind=command',
    'check.kind=testSuite',
    'check.kind=testSuite#executed',
    'check.kind=policy',
    'check.kind=policy#require-approvers',
    'check.kind=policy#verify-provenance',
    'check.expectedExitCode',
    'check.required=true',
    'check.artifactsProduced',
    'constraints.security.dependencyPolicy=no-new',
    'constraints.security.dependencyPolicy=allow-with-review',
    'constraints.security.dependencyPolicy=allow-with-review#waits',
    'constraints.security.dependencyPolicy=allow',
    'constraints.licensing.allowedSpdx',
    'constraints.licensing.allowedSpdx=none',
    'constraints.licensing.forbidNewLicenses',
    'risk.humanInLoop.minApprovers#check',
    'security.outputHandling.noDirectEval',
    'security.outputHandling.noDirectEval=false',
    'execution.replan.triggers=unknown-api',
    'artifacts.required.stage',
    'artifacts.required.required',
    'artifacts.required.format',
    'artifacts.required.name=sast-report',
    'artifacts.required.name=sca-report',
    'artifacts.required.name=sca-report#release',
  ],
  setup({ slots, hooks, pool, rules: door }) {
    for (const rule of rules) door.add(rule);
    hooks.replan.sense.tap(({ findings }) =>
      findings.some(({ rule, severity }) => rule === undeclaredApi.id && severity === 'error')
        ? ['unknown-api']
        : [],
    );
    const { artifact, check } = slots;
    check.addLazy('command', async () => (await import('./checks/test-suite.ts')).commandCheck(pool));
    check.addLazy('testSuite', async () => (await import('./checks/test-suite.ts')).testSuiteCheck(pool));
    check.addLazy('policy', async () => (await import('./checks/policy.ts')).policyCheck(pool));
    artifact.addLazy('sast-report', async () => (await import('./sast-report.ts')).sastReportProducer);
    return undefined;
  },
});
