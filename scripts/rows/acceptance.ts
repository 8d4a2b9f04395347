import { type RowReader, readersIn } from './row-reader.ts';

const invalid = 'every invalid fixture';
const produced = 'artifactsProduced';
const verifies = 'verify-provenance: the key cannot sign';

/** What runs a stage's checks, blind to one of the lists. */
const without = (stage: string): readonly [from: string, to: string] => [
  'const listed = spec.acceptance',
  `const listed = stage === '${stage}' ? [] : spec.acceptance`,
];

/** Acceptance and Check. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/plan/plan-tasks.ts', [
    [
      'acceptance.successCriteria',
      'acceptanceCriteria: spec.acceptance.successCriteria,',
      'acceptanceCriteria: [],',
      'fields that a run stores',
      'all that one run can show',
      'acceptance.successCriteria',
    ],
  ]),
  ...readersIn('engine/run/judge/run-stage.ts', [
    ['acceptance.verificationPlan.fastChecks', ...without('fast')],
    ['acceptance.verificationPlan.integrationChecks', ...without('integration')],
    ['acceptance.verificationPlan.securityChecks', ...without('security')],
    ['acceptance.verificationPlan.releaseChecks', ...without('release')],
  ]),
  ...readersIn('engine/run/judge/run-stages.ts', [
    [
      'acceptance.verificationPlan#order',
      "if (record.status === 'failed' || record.status === 'waiting') break;",
      '',
    ],
  ]),
  ...readersIn('engine/spec/rules/security-check-artifacts.ts', [
    [
      'acceptance.verificationPlan.securityChecks#reports',
      '!produced.has(name)',
      'false',
      invalid,
      'SEMANTIC_SECURITY_CHECK_ARTIFACTS',
    ],
  ]),
  ...readersIn('gates/new-tests/asks-new-tests.ts', [
    [
      'acceptance.qualityGates.requireNewTestsWhenBugfix',
      'acceptance.qualityGates.requireNewTestsWhenBugfix;',
      'false;',
    ],
    [
      'acceptance.qualityGates.requireNewTestsWhenBugfix=false',
      'acceptance.qualityGates.requireNewTestsWhenBugfix;',
      'true;',
    ],
  ]),
  ...readersIn('engine/run/judge/run-stage.ts', [
    ['acceptance.qualityGates.requireNewTestsWhenBugfix#ran', '...newTestFindings(attempt, compared)', ''],
  ]),
  ...readersIn('engine/run/judge/regression.ts', [
    ['acceptance.qualityGates.maxAllowedRegression=none', "level !== 'none' &&", ''],
    ['acceptance.qualityGates.maxAllowedRegression=low', "level !== 'none' &&", "level === 'medium' &&"],
    [
      'acceptance.qualityGates.maxAllowedRegression=medium',
      "level !== 'none' &&",
      "level === 'low' &&",
      'low and medium tolerate an old failure',
      'medium',
    ],
  ]),
  ...readersIn('gates/rules/regression.ts', [
    [
      'acceptance.qualityGates.maxAllowedRegression=none#speed',
      '{ none: 0,',
      '{ none: 0.05,',
      'none: nothing beyond the noise',
    ],
    ['acceptance.qualityGates.maxAllowedRegression=low#speed', 'low: 0.05,', 'low: 10,'],
    ['acceptance.qualityGates.maxAllowedRegression=medium#speed', 'medium: 0.2 }', 'medium: 0.05 }'],
    [
      'acceptance.qualityGates.maxAllowedRegression#regression',
      "outcome === 'regression' && mustPass(check)",
      'false',
    ],
  ]),
  ...readersIn('engine/spec/rules/check-ids-unique.ts', [
    ['check.id', 'if (earlier !== undefined) {', 'if (false) {', invalid, 'SEMANTIC_CHECK_ID_DUPLICATE'],
  ]),
  ...readersIn('engine/run/record/judgement-objects.ts', [
    [
      'check.id#evidence',
      'object.check_id ?? object.stage',
      'object.stage',
      'bindings: spec digest and evidence digests',
    ],
  ]),
  ...readersIn('gates/checks/command.ts', [
    [
      'check.kind=command',
      'findings: judgeExit(check, ran)',
      'findings: []',
      'another exit code fails and both codes are told',
    ],
  ]),
  ...readersIn('gates/plugin.ts', [
    [
      'check.kind=testSuite',
      "(await import('./checks/test-suite.ts')).testSuiteCheck(pool)",
      "(await import('./checks/command.ts')).commandCheck",
    ],
  ]),
  ...readersIn('gates/checks/judge-report.ts', [
    [
      'check.kind=testSuite#executed',
      'if (passed + failed === 0) {',
      'if (false) {',
      'a suite in which no test ran has failed',
    ],
  ]),
  ...readersIn('gates/checks/policy.ts', [
    [
      'check.kind=policy',
      'await context.askRule(name, args)',
      'undefined',
      'a policy check asks the rule that its first word names',
    ],
  ]),
  ...readersIn('gates/rules/require-approvers.ts', [
    [
      'check.kind=policy#require-approvers',
      "judgeApprovals('require-approvers', input, {",
      "((..._: unknown[]) => [])('require-approvers', input, {",
      'require-approvers: nobody was asked yet',
    ],
  ]),
  ...readersIn('gates/rules/verify-provenance.ts', [
    ['check.kind=policy#verify-provenance', 'rehearsal.problems.map(', '[].map(', verifies],
  ]),
  ...readersIn('engine/run/judge/run-command.ts', [
    ['check.command', 'const denied = acl.refusal ?? (', 'const denied = ('],
    ['check.timeoutSeconds', 'timeoutMs: check.timeoutSeconds * 1000,', 'timeoutMs: 900_000,'],
  ]),
  ...readersIn('engine/tool/acl/guard-command.ts', [
    ['check.command#variables', 'if (unknown.length > 0) {', 'if (false) {'],
  ]),
  ...readersIn('gates/checks/judge-exit.ts', [
    ['check.expectedExitCode', 'if (exitCode === expectedExitCode)', 'if (exitCode === 0)'],
  ]),
  ...readersIn('gates/rules/check-outcome.ts', []),
  ...readersIn('core/contract/stage.ts', [
    ['check.required=false', 'return required;', 'return true;'],
    ['check.required=true', 'return required;', 'return false;', 'check-outcome: a failed check'],
  ]),
  ...readersIn('gates/rules/artifact-present.ts', [
    [
      'check.artifactsProduced',
      '[...new Set(check.artifactsProduced)]',
      '[]',
      produced,
      'and the finding names the check',
    ],
  ]),
  ...readersIn('engine/run/judge/collect-artifacts.ts', [
    [
      'check.artifactsProduced#kept',
      'new Set([...check.artifactsProduced, ...implied])',
      'new Set(implied)',
      produced,
    ],
  ]),
  ...readersIn('engine/spec/rules/artifact-declared.ts', [
    [
      'check.artifactsProduced#declared',
      'declared.has(name)',
      'true',
      invalid,
      'SEMANTIC_ARTIFACT_UNDECLARED',
    ],
  ]),
];
