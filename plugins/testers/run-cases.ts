/* Runs the cases and promises of the testers, and builds sample specs. */
import { AssertionError } from 'node:assert';
import { messageOf } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';

/** The part of a test runner that is used: one subtest per case (tap's and node:test's contexts fit). */
export interface CaseRunner {
  test(name: string, body: (t: object) => Promise<void>): Promise<unknown>;
}

/** Promises by sentence, each with a function that rejects if the promise is broken. */
export type Promises = Readonly<Record<string, () => Promise<void>>>;

/**
 * Runs every promise, in order. The first broken one rejects with an AssertionError that names it and reports the
 * result. With a runner each promise is a separate test.
 */
export async function runCases(
  runner: CaseRunner | undefined,
  kind: string,
  name: string,
  promises: Promises,
): Promise<void> {
  for (const [sentence, ask] of Object.entries(promises)) {
    const run = async () => {
      try {
        await ask();
      } catch (cause) {
        const message = `${kind} \`${name}\`, case \`${sentence}\`: ${messageOf(cause)}`;
        throw Object.assign(new AssertionError({ message }), { cause });
      }
    };
    if (runner === undefined) await run();
    else {
      await runner.test(`${name}: ${sentence}`, async (t) => {
        await run();
        reportPassed(t, sentence);
      });
    }
  }
}

/**
 * Notifies a runner that counts assertions (tap) of a passed case. A runner that does not count (node:test) needs no
 * call.
 */
export function reportPassed(t: object, name: string): void {
  if ('pass' in t && typeof t.pass === 'function') t.pass(name);
}

/** A partial document: objects merge field by field, arrays and values replace. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** The spec that rule cases start from: every default, with the whole repository in scope. */
export const sampleSpec: EffectiveIntentSpec = {
  apiVersion: 'intentspec.example/v1alpha1',
  kind: 'IntentSpec',
  metadata: {
    id: '0f3c9c52-9d0b-4a7b-8d3e-2f6f6f0c7a11',
    createdAt: '2026-01-02T03:04:05Z',
    createdBy: { type: 'user', id: 'someone' },
    target: { repo: { type: 'local', locator: '/repository' }, baseRef: 'main', labels: {} },
  },
  intent: {
    summary: 'a change used by a rule test',
    problemStatement: 'a change used by a rule test, nothing else',
    changeType: 'unknown',
    objectives: ['the rule under test answers as expected'],
    inScope: ['everything'],
    outOfScope: [],
    touchHints: { files: [], symbols: [], apis: [] },
  },
  acceptance: {
    successCriteria: ['the rule under test answers as expected'],
    verificationPlan: { fastChecks: [], integrationChecks: [], securityChecks: [], releaseChecks: [] },
    qualityGates: { requireNewTestsWhenBugfix: true, maxAllowedRegression: 'none' },
  },
  constraints: {
    security: { networkPolicy: 'deny', dependencyPolicy: 'allow-with-review', cryptoPolicy: '' },
    privacy: { dataClassesAllowed: ['public'], redactionRequired: true, retentionDays: 30 },
    licensing: { allowedSpdx: [], forbidNewLicenses: false },
    platform: { languageRuntime: '', supportedOS: [] },
    resources: { maxWallClockSeconds: 14400, maxCostUnits: 0 },
  },
  risk: {
    level: 'low',
    rationale: 'nothing but a rule test depends on it',
    factors: [],
    humanInLoop: { required: false, minApprovers: 0 },
  },
  evidence: {
    strategy: 'repo-first',
    trustTiers: ['repo', 'standards', 'vendor-doc'],
    domainAllowlistMode: 'allowlist-only',
    allowedDomains: [],
    blockedDomains: [],
    minCitationsPerDecision: 0,
  },
  security: {
    toolAcl: {
      allow: [{ tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} }],
      deny: [],
    },
    secrets: { policy: 'deny-all', allowedScopes: [] },
    promptInjection: {
      treatRetrievedContentAsUntrusted: true,
      enforceOutputSchema: true,
      disallowInstructionFromEvidence: true,
    },
    outputHandling: { encodingPolicy: 'contextual-escape', noDirectEval: true },
  },
  execution: {
    retry: { maxRetries: 3, backoffSeconds: 10 },
    replan: { triggers: ['repeated-test-fail', 'security-gate-fail', 'evidence-conflict'] },
    concurrency: { maxParallelTasks: 4 },
  },
  artifacts: {
    required: [
      { name: 'patchset', stage: 'per-task', required: true, format: '' },
      { name: 'test-log', stage: 'per-task', required: true, format: '' },
    ],
    retention: { days: 90 },
  },
  provenance: {
    requireSlsaProvenance: true,
    requireSbom: false,
    transparencyLog: { mode: 'internal-ledger' },
    bindings: { embedIntentSpecDigest: true, embedEvidenceDigests: true },
  },
  lifecycle: { schemaVersion: '1.0.0', status: 'active', changeLog: [] },
  objmodel: {
    objectStore: { backend: 'git-native', blobRetentionStrategy: 'ref-anchoring', aiRefPrefix: 'refs/ai/' },
    contextPipeline: { maxFrames: 128, seedFrameKind: 'IntentAnalysis', checkpointOnReplan: true },
    planGeneration: {
      decompositionMode: 'per-objective',
      conflictResolution: 'force-serial',
      gateTaskPerStage: true,
    },
    runPolicy: { patchsetFormat: 'GitDiff', snapshotOnRunStart: true, metricsSchema: {} },
    actorMapping: {
      orchestratorActorId: 'x-orchestrator',
      coderActorId: 'x-coder',
      reviewerActorId: 'x-reviewer',
    },
    decisionPolicy: {
      abandonOnSecurityGateFail: true,
      checkpointBeforeReplan: true,
      rollbackOnProvenanceFail: true,
    },
  },
  extensions: {},
};

/** `sampleSpec` with the fields of `changes` in their place. */
export function sampleSpecWith(changes: DeepPartial<EffectiveIntentSpec>): EffectiveIntentSpec {
  return merge(sampleSpec, changes) as EffectiveIntentSpec;
}

function merge(base: unknown, changes: unknown): unknown {
  if (changes === undefined) return base;
  if (!isPlain(base) || !isPlain(changes)) return changes;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) merged[key] = merge(base[key], value);
  return merged;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
