/* Describes the settings of a spec for people. */
import { toRfc3339 } from '../core/base/clock.ts';
import { uuidV7 } from '../core/base/ids.ts';
import type { EffectiveCheck, EffectiveIntentSpec, ToolRule } from '../core/interfaces/intentspec.gen.ts';
import { type ClassWords, type PrivacyPolicy, sensitiveClasses } from '../core/interfaces/privacy.ts';
import { applyDefaults } from './document-schema.ts';
import { draftFromProfile } from './profile.ts';

/** One value that a spec sets, in words. */
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

/** How a change is attested and recorded. */
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

/** What gates require in addition to their checks. */
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
 * The values in which a spec differs from its risk profile, one sentence each, with the usual value. They point out
 * differences that a person could overlook. Empty if all values are usual.
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

/** Whether a check only waits for approvals. */
export function isApproverCheck({
  kind,
  command,
}: { readonly [Key in 'kind' | 'command']?: EffectiveCheck[Key] | undefined }): boolean {
  return kind === 'policy' && command?.trim().split(/\s+/, 1)[0] === 'require-approvers';
}

/** Whether a commit under this spec gets a signed provenance statement: as a field of the spec or as an artifact. */
export function isAttested({
  provenance,
  artifacts,
}: Pick<EffectiveIntentSpec, 'provenance' | 'artifacts'>): boolean {
  return (
    provenance.requireSlsaProvenance ||
    artifacts.required.some(({ name, required }) => required && name === 'provenance-attestation')
  );
}

/** The privacy policy of a spec. If secrets are not allowed they are never written, with or without redaction. */
export function privacyPolicyOf(spec: EffectiveIntentSpec, words: ClassWords = {}): PrivacyPolicy {
  const { dataClassesAllowed, redactionRequired } = spec.constraints.privacy;
  const beyond = sensitiveClasses.filter((one) => !dataClassesAllowed.includes(one));
  return { remove: redactionRequired ? beyond : beyond.filter((one) => one === 'secrets'), beyond, words };
}

/** The Scheduler as creator of its records, by its name in the spec (`objmodel.actorMapping`). */
export function schedulerOf({ objmodel }: Pick<EffectiveIntentSpec, 'objmodel'>): {
  readonly kind: 'system';
  readonly id: string;
} {
  return { kind: 'system', id: objmodel.actorMapping.orchestratorActorId };
}

/** The tools that a model needs for a Task. The scope decides where it may write. */
export const workerRights: readonly ToolRule[] = [
  { tool: 'workspace.fs', actions: ['read', 'write', 'delete'] },
  { tool: 'workspace.search', actions: ['search'] },
];

/** Least number of approvers before a check gets secrets that can change something: four eyes. */
export const leastApprovers = 2;

/** The strictest profile. It restricts a model's prompts and reading until there is a spec. */
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

/** A document with any part optional. Semantic rules read it, so that they also validate incomplete documents. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? readonly (Partly<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
    : T;
