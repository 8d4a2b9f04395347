import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** One thing that a contract settles, in words. */
export type Fact = readonly [name: string, value: string];

/** What limits a run of it. */
export function limitFacts({ constraints, execution, evidence }: EffectiveIntentSpec): readonly Fact[] {
  const { security, privacy, licensing, platform, resources } = constraints;
  return [
    ['Network', security.networkPolicy],
    ['New dependencies', security.dependencyPolicy],
    ['Licenses', licensing.allowedSpdx.join(', ') || 'no restriction'],
    ['New licenses', licensing.forbidNewLicenses ? 'need a license review' : 'no further rule'],
    ['Cryptography', security.cryptoPolicy || 'no further rule'],
    ['Data classes', privacy.dataClassesAllowed.join(', ') || 'none'],
    ['Redaction', privacy.redactionRequired ? 'on' : 'off'],
    ['Runtime', platform.languageRuntime || 'any'],
    ['Operating systems', platform.supportedOS.join(', ') || 'any'],
    ['Time', `${resources.maxWallClockSeconds} seconds`],
    ['Cost', resources.maxCostUnits === 0 ? 'unlimited' : `${resources.maxCostUnits} units`],
    [
      'Attempts',
      `${execution.retry.maxRetries} retries, ${execution.concurrency.maxParallelTasks} in parallel`,
    ],
    ['Sources', `${evidence.strategy}, at least ${evidence.minCitationsPerDecision} for every decision`],
  ];
}

/** How what was done is told and kept. */
export function provenanceFacts({
  provenance,
  artifacts,
  constraints,
}: EffectiveIntentSpec): readonly Fact[] {
  return [
    ['Provenance', provenance.requireSlsaProvenance ? 'signed SLSA statement' : 'none'],
    ['Transparency log', provenance.transparencyLog.mode],
    ['SBOM', provenance.requireSbom ? 'required' : 'not required'],
    ['Content kept', `${Math.min(artifacts.retention.days, constraints.privacy.retentionDays)} days`],
  ];
}

/** What gates ask for beside its checks. */
export function gateFacts({ acceptance: { qualityGates } }: EffectiveIntentSpec): readonly Fact[] {
  return [
    ['New tests for a bugfix', qualityGates.requireNewTestsWhenBugfix ? 'required' : 'not required'],
    ['Regression allowed', qualityGates.maxAllowedRegression],
  ];
}

/** Who has a word before it is committed. */
export function peopleWords({ risk }: EffectiveIntentSpec): string {
  const { required, minApprovers } = risk.humanInLoop;
  return required ? `a person decides: at least ${minApprovers} approvals` : 'no person is asked';
}
