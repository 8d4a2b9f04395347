const ofChecks = 'the engine itself says under this name what came of a check';
const ofSecondRuns = 'what a second run of a check shows is said under the name of the rule that asks for it';
const ofContracts = 'a contract names it in a `policy` check';
const ofRecords = 'a stored record is read without an engine';
const ofScope = 'scope is engine code: what left it is planned anew';

/** Where the id of a rule is spelt besides its own files, and why. None that is gone may stay. */
export const ruleIdsElsewhere: Readonly<Record<string, string>> = {
  'bin/commands/demo.ts: new-tests': 'the demo says which rule refuses each of its patches',
  'bin/commands/demo.ts: no-direct-eval': 'the demo says which rule refuses each of its patches',
  'bin/commands/demo.ts: scope': 'the demo says which rule refuses each of its patches',
  'gates/plugin.ts: undeclared-api': 'the replan trigger `unknown-api` follows from this rule',
  'engine/decide/decide-run.ts: artifact-present':
    'the decision says itself that a proof is required which no log gives',
  'engine/evaluate/check-workspace.ts: check-outcome': ofChecks,
  'engine/evaluate/artifacts.ts: check-outcome': ofChecks,
  'engine/evaluate/read-reports.ts: check-outcome': ofChecks,
  'engine/evaluate/written-outside.ts: check-outcome': ofChecks,
  'engine/evaluate/run-check.ts: check-outcome': ofChecks,
  'engine/evaluate/run-on-workers.ts: check-outcome': ofChecks,
  'engine/evaluate/second-run/run-by-policy.ts: judge-changed': ofSecondRuns,
  'engine/evaluate/second-run/policy-inputs.ts: judge-changed': ofSecondRuns,
  'engine/evaluate/taken-back.ts: scope': 'what takes back a landed change writes outside what it says',
  'engine/evaluate/evaluate-rules.ts: secrets': 'words that hold a secret are refused under this name',
  'engine/record/masking.ts: secrets': ofRecords,
  'engine/record/plan-state.ts: scope': ofScope,
  'engine/work/work-plan.ts: scope': ofScope,
  'spec/profile.ts: require-approvers': ofContracts,
  'spec/profile.ts: sast': ofContracts,
  'spec/profile.ts: sbom': ofContracts,
  'spec/profile.ts: sca': ofContracts,
  'spec/rows/acceptance.ts: require-approvers': ofContracts,
  'spec/rows/acceptance.ts: verify-provenance': ofContracts,
  'spec/facts.ts: require-approvers': ofContracts,
  'spec/rules/risk-rules.ts: judge-changed': ofContracts,
  'spec/rules/risk-rules.ts: new-dependency': ofContracts,
  'spec/rules/risk-rules.ts: require-approvers': ofContracts,
  'store/record/verdict.ts: regression': ofRecords,
  'gates/checks/judge-exit.ts: check-outcome': ofChecks,
  'gates/checks/test-suite.ts: check-outcome': ofChecks,
  'gates/rules/judge-changed.ts: require-approvers': ofContracts,
  'gates/rules/new-dependency.ts: require-approvers': ofContracts,
  'readers/reports/metrics.ts: regression': ofChecks,
  'readers/reports/missing-dependencies.ts: check-outcome': ofChecks,
};
