/* The risk profiles, and the draft that `writ spec new` makes from them. */
import type {
  Actor,
  ArtifactRequirement,
  ChangeType,
  Check,
  IntentSpec,
  QualityGates,
  RiskLevel,
  SecurityConstraints,
  TargetRepo,
} from '../core/interfaces/intentspec.gen.ts';

import { defaultCheck, type ProposedCheck } from './propose-check.ts';

/** From the lowest. */
export const riskLevels = ['low', 'medium', 'high'] as const satisfies readonly RiskLevel[];

/** The higher of two levels. */
export function higherRisk(one: RiskLevel, other: RiskLevel): RiskLevel {
  return riskLevels.indexOf(one) >= riskLevels.indexOf(other) ? one : other;
}

/** Settings that the risk level fixes and no model may loosen. */
interface RiskProfile {
  readonly approvers: number;
  readonly dependencyPolicy: SecurityConstraints['dependencyPolicy'];
  readonly retentionDays: number;
  readonly maxWallClockSeconds: number;
  readonly minCitationsPerDecision: number;
  readonly maxRetries: number;
  readonly maxParallelTasks: number;
  readonly reports: boolean;
  readonly sealed: boolean;
}

/** One row per level; `reports` adds sast, sca and sbom, `sealed` the attestation and its log proof. */
const riskProfiles: Readonly<Record<RiskLevel, RiskProfile>> = {
  low: {
    approvers: 0,
    dependencyPolicy: 'no-new',
    retentionDays: 7,
    maxWallClockSeconds: 3600,
    minCitationsPerDecision: 0,
    maxRetries: 3,
    maxParallelTasks: 2,
    reports: false,
    sealed: false,
  },
  medium: {
    approvers: 1,
    dependencyPolicy: 'allow-with-review',
    retentionDays: 30,
    maxWallClockSeconds: 14400,
    minCitationsPerDecision: 2,
    maxRetries: 3,
    maxParallelTasks: 4,
    reports: true,
    sealed: false,
  },
  high: {
    approvers: 2,
    dependencyPolicy: 'no-new',
    retentionDays: 14,
    maxWallClockSeconds: 28800,
    minCitationsPerDecision: 3,
    maxRetries: 2,
    maxParallelTasks: 1,
    reports: true,
    sealed: true,
  },
};

/**
 * Placeholder texts of a draft, where only a person knows the right words. A spec that still contains one cannot be
 * activated (rule `template-words`).
 */
export const templateWords = {
  summary: 'Say in one sentence what shall change',
  problemStatement: 'Describe what is wrong or missing, for whom, and how it shows.',
  objective: 'Say what can be observed when this is done',
  inScope: 'Name the directories and files that may change, such as src/ and test/',
  successCriterion: 'Say how anyone can see that it works',
  rationale: 'Say what could go wrong, and why this level fits.',
} as const;

export interface DraftRequest {
  readonly risk: RiskLevel;
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly createdBy: Actor;
  readonly repo: TargetRepo;
  readonly baseRef: string;
  readonly summary?: string;
  readonly changeType?: ChangeType;
  /** How the project is tested; default: Node's own test runner. */
  readonly test?: Pick<ProposedCheck, 'kind' | 'command' | 'allowed'>;
}

/**
 * A valid draft: policy from the risk profile, and words to replace where only a person knows. It does not run before
 * it is activated.
 */
export function draftFromProfile(request: DraftRequest): IntentSpec {
  const { risk, summary = templateWords.summary, changeType = 'unknown', test = defaultCheck } = request;
  const profile = riskProfiles[risk];
  return {
    apiVersion: 'intentspec.io/v1alpha1',
    kind: 'IntentSpec',
    metadata: {
      id: request.id,
      createdAt: request.createdAt,
      createdBy: request.createdBy,
      target: { repo: request.repo, baseRef: request.baseRef },
    },
    intent: {
      summary,
      problemStatement: templateWords.problemStatement,
      changeType,
      objectives: [templateWords.objective],
      inScope: [templateWords.inScope],
      outOfScope: [],
    },
    acceptance: {
      successCriteria: [templateWords.successCriterion],
      verificationPlan: {
        fastChecks: [
          {
            id: 'unit',
            kind: test.kind,
            command: test.command,
            timeoutSeconds: 300,
            required: true,
            artifactsProduced: ['test-log'],
          },
        ],
        integrationChecks: [],
        securityChecks: profile.reports ? reportChecks : [],
        releaseChecks: profile.approvers > 1 ? [approvalCheck] : [],
      },
      qualityGates: defaultGates(changeType, risk),
    },
    constraints: {
      security: { networkPolicy: 'deny', dependencyPolicy: profile.dependencyPolicy },
      privacy: {
        dataClassesAllowed: ['public'],
        redactionRequired: true,
        retentionDays: profile.retentionDays,
      },
      licensing: { allowedSpdx: [], forbidNewLicenses: false },
      resources: { maxWallClockSeconds: profile.maxWallClockSeconds },
    },
    risk: {
      level: risk,
      rationale: templateWords.rationale,
      humanInLoop: { required: profile.approvers > 0, minApprovers: profile.approvers },
    },
    evidence: {
      strategy: 'repo-first',
      trustTiers: ['repo', 'standards', 'vendor-doc'],
      domainAllowlistMode: 'allowlist-only',
      minCitationsPerDecision: profile.minCitationsPerDecision,
    },
    security: {
      toolAcl: {
        allow: [
          {
            tool: 'workspace.command',
            actions: ['execute'],
            constraints: { allowCommands: [test.allowed] },
          },
        ],
      },
      secrets: { policy: 'deny-all' },
      promptInjection: { treatRetrievedContentAsUntrusted: true, enforceOutputSchema: true },
      outputHandling: { encodingPolicy: 'contextual-escape', noDirectEval: true },
    },
    execution: {
      retry: { maxRetries: profile.maxRetries },
      concurrency: { maxParallelTasks: profile.maxParallelTasks },
    },
    artifacts: {
      required: [
        ...baseArtifacts,
        ...(profile.reports ? reportArtifacts : []),
        ...(profile.sealed ? sealArtifacts : []),
      ],
    },
    provenance: {
      requireSlsaProvenance: true,
      requireSbom: profile.reports,
      transparencyLog: { mode: profile.sealed ? 'internal-ledger' : 'none' },
      bindings: { embedIntentSpecDigest: true },
    },
    lifecycle: { schemaVersion: '1.0.0', status: 'draft', changeLog: [] },
  };
}

/**
 * Quality gates by change type. A change of `docs` or `chore` is not refused for an integration check that failed
 * before it. Every other type, and high risk, has zero tolerance.
 */
function defaultGates(changeType: ChangeType, risk: RiskLevel): QualityGates {
  const isAside = changeType === 'docs' || changeType === 'chore';
  return {
    requireNewTestsWhenBugfix: true,
    maxAllowedRegression: isAside && risk !== 'high' ? 'low' : 'none',
  };
}

const reportChecks: readonly Check[] = [
  { id: 'sast', kind: 'policy', command: 'sast', required: true, artifactsProduced: ['sast-report'] },
  { id: 'sca', kind: 'policy', command: 'sca', required: true, artifactsProduced: ['sca-report'] },
  { id: 'sbom', kind: 'policy', command: 'sbom', required: true, artifactsProduced: ['sbom'] },
];

const approvalCheck: Check = {
  id: 'approvals',
  kind: 'policy',
  command: 'require-approvers',
  required: true,
};

const baseArtifacts: readonly ArtifactRequirement[] = [
  { name: 'patchset', stage: 'per-task', required: true, format: 'git-diff' },
  { name: 'test-log', stage: 'per-task', required: true },
];

const reportArtifacts: readonly ArtifactRequirement[] = [
  { name: 'sast-report', stage: 'security', required: true, format: 'sarif' },
  { name: 'sca-report', stage: 'security', required: true },
  { name: 'sbom', stage: 'security', required: true, format: 'cyclonedx-json' },
];

const sealArtifacts: readonly ArtifactRequirement[] = [
  { name: 'provenance-attestation', stage: 'release', required: true, format: 'in-toto+json' },
  { name: 'transparency-proof', stage: 'release', required: true },
];
