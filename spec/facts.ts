import { toRfc3339 } from '../core/base/clock.ts';
import { uuidV7 } from '../core/base/ids.ts';
import type { EffectiveCheck, EffectiveIntentSpec, ToolRule } from '../core/interfaces/intentspec.gen.ts';
import { type ClassWords, type PrivacyPolicy, sensitiveClasses } from '../core/interfaces/privacy.ts';
import { applyDefaults } from './apply-defaults.ts';
import { draftFromProfile } from './profile.ts';

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
function gateFacts({ acceptance: { qualityGates } }: EffectiveIntentSpec): readonly Fact[] {
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

/**
 * What a contract settles otherwise than the profile of its risk does, one sentence each, with what is usual: what a
 * person would overlook among all that is as ever. None: it is as ever.
 */
export function unusualFacts(spec: EffectiveIntentSpec): readonly string[] {
  const { metadata, risk, intent } = spec;
  const { id, createdAt, createdBy, target } = metadata;
  const usual = new Map(
    factsOf(
      applyDefaults(
        draftFromProfile({
          id,
          createdAt,
          createdBy,
          repo: target.repo,
          baseRef: target.baseRef,
          risk: risk.level,
          changeType: intent.changeType,
        }),
      ),
    ),
  );
  return factsOf(spec).flatMap(([name, value]) => {
    const expected = usual.get(name);
    return expected === value ? [] : [`${name}: ${value} (usual: ${expected})`];
  });
}

function factsOf(spec: EffectiveIntentSpec): readonly Fact[] {
  return [
    ['Approvals', peopleWords(spec)],
    ...gateFacts(spec),
    ...limitFacts(spec),
    ...provenanceFacts(spec),
  ];
}

/** Whether a check is the one that waits for people and does nothing else (document 1, Risk). */
export function isApproverCheck({
  kind,
  command,
}: { readonly [Key in 'kind' | 'command']?: EffectiveCheck[Key] | undefined }): boolean {
  return kind === 'policy' && command?.trim().split(/\s+/, 1)[0] === 'require-approvers';
}

/** Whether a commit under this contract gets a signed provenance statement: asked for by itself or as an artifact. */
export function isAttested({
  provenance,
  artifacts,
}: Pick<EffectiveIntentSpec, 'provenance' | 'artifacts'>): boolean {
  return (
    provenance.requireSlsaProvenance ||
    artifacts.required.some(({ name, required }) => required && name === 'provenance-attestation')
  );
}

/** The policy of a contract. Where secrets are not allowed they are never written, redaction or not. */
export function privacyPolicyOf(spec: EffectiveIntentSpec, words: ClassWords = {}): PrivacyPolicy {
  const { dataClassesAllowed, redactionRequired } = spec.constraints.privacy;
  const beyond = sensitiveClasses.filter((one) => !dataClassesAllowed.includes(one));
  return { remove: redactionRequired ? beyond : beyond.filter((one) => one === 'secrets'), beyond, words };
}

/** The Scheduler as creator of what it records, by the name that the contract gives it (document 1, actorMapping). */
export function schedulerOf({ objmodel }: Pick<EffectiveIntentSpec, 'objmodel'>): {
  readonly kind: 'system';
  readonly id: string;
} {
  return { kind: 'system', id: objmodel.actorMapping.orchestratorActorId };
}

/** What a model needs to do a Task; where it may write, says the scope. */
export const workerRights: readonly ToolRule[] = [
  { tool: 'workspace.fs', actions: ['read', 'write', 'delete'] },
  { tool: 'workspace.search', actions: ['search'] },
];

/** People who approve before a check is given what may change something: "2 means four-eyes" (document 1, Risk). */
export const leastApprovers = 2;

/** The strictest profile: what guards a model's prompts and reading as long as there is no contract to say so. */
export function guardingProfile(nowMs: number): EffectiveIntentSpec {
  return applyDefaults(
    draftFromProfile({
      id: uuidV7(nowMs),
      createdAt: toRfc3339(nowMs),
      createdBy: { type: 'agent', id: 'writ' },
      repo: { type: 'local', locator: '.' },
      baseRef: 'HEAD',
      risk: 'high',
    }),
  );
}

/** A document of which any part may be missing: what semantic rules read, so that they also judge broken documents. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? readonly (Partly<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
    : T;
