/* Builds the input of a run's decision, decides, and reports the result. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type ReplanTrigger, replanTriggers } from '../../core/interfaces/plan.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import { type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import type { WorkUsage } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { isAttested } from '../../spec/facts.ts';
import { touchesGoverning } from '../../workspace/patch/patch-paths.ts';
import { expiredWaivers } from '../config/waivers.ts';
import { compileMetricsSchema } from '../context/run-metrics.ts';
import { everyFinding, finalReport } from '../record/build-gate-report.ts';
import {
  type DecidedStage,
  type DecisionInput,
  toDecided,
  toDecidedStage,
} from '../record/decision-input.ts';
import type { EvaluatedRun } from '../record/evaluation-objects.ts';
import { failedTests } from '../record/failure-text.ts';
import { firedTriggers, maxReplans, type PlanState, type SensedAttempt } from '../record/plan-state.ts';
import { type Attempt, policyOf } from '../state/open-run.ts';
import { recordAnswer, redactOutcome } from '../state/outcome.ts';
import { usedCostUnits } from './budget.ts';
import { decide } from './decide.ts';
import { neededApprovals } from './people.ts';

/** What is decided on, beside the attempt itself. */
export interface DecisionQuestion
  extends Pick<DecisionInput, 'subject' | 'conflicts' | 'human' | 'workerReason' | 'owners'> {
  /** Triggers that the worker itself reported. */
  readonly sensed?: readonly ReplanTrigger[];
  readonly task?: DecisionInput['task'];
  readonly blame?: DecisionInput['blame'];
  readonly worker?: DecisionInput['worker'];
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
  readonly dependencies: readonly DigestedThing[];
  /** Earlier attempts at the same Task in this revision, oldest first. */
  readonly before: readonly SensedAttempt[];
  readonly state: PlanState;
  /** What this attempt itself used, not in `state` yet. */
  readonly usage?: WorkUsage;
}

/**
 * Calls the decision guards, builds the decision's input, and decides. If the decision waits for people, it is made
 * again next time.
 */
export async function decideRun(attempt: Attempt, question: DecisionQuestion): Promise<EvaluatedRun> {
  const { findings, stages, dependencies, state } = question;
  const isCandidate = question.subject === 'candidate';
  const pluginNetworks = isCandidate ? await networksOfPlugins(attempt) : [];
  const found = await attempt.services.steps.once(
    isCandidate ? 'decided' : 'attempt-decided',
    () => findDecision(attempt, question),
    ({ decision }) => !decision.next.startsWith('wait-'),
  );
  return {
    findings,
    stages,
    dependencies: isCandidate
      ? [...contextDependencies(state), ...answeringServers(state), ...dependencies]
      : dependencies,
    revision: state.draft.revision,
    attempts: Math.max(1, state.attempts.length),
    workNetworks: [
      ...state.attempts.flatMap(({ name, network }) =>
        network === undefined ? [] : [{ stage: 'work', check: name, ...network }],
      ),
      ...pluginNetworks,
    ],
    ...found,
  };
}

/**
 * Returns the recorded networks from before the decision. They also apply when another process continues the run
 * without having called any plugin.
 */
async function networksOfPlugins(attempt: Attempt): Promise<EvaluatedRun['workNetworks']> {
  const { steps } = attempt.services;
  const step = 'plugin-networks';
  const networks = attempt.environment.plugins.networks();
  if (networks.length === 0 && steps.ended(step) === undefined) return [];
  return recordAnswer(
    attempt,
    step,
    () => ({
      networks: networks.map(({ plugin, ...network }) => ({ stage: 'plugin', check: plugin, ...network })),
    }),
    (clean) => clean.networks,
  );
}

async function findDecision(
  attempt: Attempt,
  question: DecisionQuestion,
): Promise<Pick<EvaluatedRun, 'input' | 'decision' | 'refusals' | 'metrics'>> {
  const {
    identity: { contract, runId },
    services: { engine },
    patch,
  } = attempt;
  const { findings, stages, subject, state, usage, conflicts, task, blame, worker, workerReason, human } =
    question;
  const { owners = [] } = question;
  const { policy, foreign } = attempt.environment;
  const spec = contract.effective;
  const patchFindings = findings.map(toDecided);
  const decidedStages = stageNames.map((name) => decidedStage(spec, name, stages));
  const sensedNow = { patchFindings, stages: decidedStages, failedTests: failedTests(stages) };
  const fired = [...firedTriggers([...question.before, sensedNow]), ...(question.sensed ?? [])];
  const facts = { runId, spec, patch, findings, stages };
  const sensed = await engine.hooks.replan.sense.call({ ...facts, subject, fired });
  const refusal = await engine.hooks.decision.guard.call(facts);
  const usedUnits = state.costUnits + (usage?.costUnits ?? 0);
  const metrics = runMetrics(attempt, state, usage);
  const refusals = [
    ...(attempt.services.cancelled === undefined
      ? []
      : [{ rule: 'cancelled', severity: 'error' as const, message: attempt.services.cancelled }]),
    ...unsealable(spec),
    ...expiredWaivers(everyFinding(findings, stages), attempt.services.settings.clock.now()),
    ...(subject === 'candidate' ? await metricRefusals(spec, metrics) : []),
    ...(refusal ? [redactOutcome(refusal, policyOf(attempt))] : []),
  ];
  const input: DecisionInput = {
    schema: 'urn:writ:decision-input:v2',
    runId,
    specId: spec.metadata.id,
    specDigest: contract.digest,
    baseCommit: patch.baseCommit ?? null,
    policyCommit: policy.commit ?? null,
    ...(policy.ref === undefined ? {} : { policyRef: policy.ref }),
    ...(foreign === undefined ? {} : { defaultRef: foreign.defaultRef }),
    patchDigest: patch.digest,
    candidateTree: patch.candidateTree,
    gateReportDigest: canonicalDigest(finalReport(attempt, findings, stages)),
    subject,
    source: attempt.identity.isWorked ? 'worker' : 'supplied',
    ...(task === undefined ? {} : { task }),
    ...(blame === undefined ? {} : { blame }),
    ...(worker === undefined ? {} : { worker }),
    ...(workerReason === undefined ? {} : { workerReason }),
    conflicts,
    patchFindings,
    touchesGoverning: touchesGoverning(patch.files),
    stages: decidedStages,
    wallClock: {
      limitSeconds: spec.constraints.resources.maxWallClockSeconds,
      exceeded: attempt.services.wallClockExceeded(),
    },
    refusals: refusals.map(toDecided),
    triggers: {
      enabled: spec.execution.replan.triggers,
      fired: replanTriggers.filter((trigger) => fired.includes(trigger) || sensed.includes(trigger)),
    },
    replans: {
      count: state.draft.revision - 1,
      limit: Math.min(maxReplans, attempt.services.settings.maxReplans ?? maxReplans),
    },
    cost: { limitUnits: state.costLimit, usedUnits },
    human,
    ...(owners.length === 0 ? {} : { owners }),
    citations: citationsAsked(spec.evidence),
    policy: spec.objmodel.decisionPolicy,
  };
  return { input, decision: decide(input), refusals, metrics };
}

/** Evidence that passed is a source of the tier `repo`. If that tier is not trusted, no evidence counts. */
function citationsAsked({
  minCitationsPerDecision: needed,
  trustTiers,
}: EffectiveIntentSpec['evidence']): NonNullable<DecisionInput['citations']> {
  return { needed, trusted: trustTiers.includes('repo') };
}

/** Returns the resources that a run used so far, by the metric names of `runPolicy.metricsSchema`. */
function runMetrics(
  { identity: { startedAtMs }, services: { settings } }: Pick<Attempt, 'identity' | 'services'>,
  state: PlanState,
  usage: WorkUsage | undefined,
): Readonly<Record<string, number>> {
  const usages = [...state.attempts.map((one) => one.usage), ...(usage ? [usage] : [])];
  const units = usedCostUnits([state.drafting, ...usages]);
  return {
    ...Object.assign({}, ...state.attempts.map((one) => one.metrics ?? {})),
    wall_clock_seconds: Math.max(0, settings.clock.now() - startedAtMs) / 1000,
    cost_usd: units / 1000,
    tokens_used: [state.drafting, ...usages].reduce((sum, { tokensUsed = 0 }) => sum + tokensUsed, 0),
    patchsets_generated: Math.max(1, state.attempts.filter((one) => one.tree !== one.baseTree).length),
  };
}

async function metricRefusals(
  spec: EffectiveIntentSpec,
  metrics: Readonly<Record<string, number>>,
): Promise<readonly Finding[]> {
  const check = await compileMetricsSchema(spec.objmodel.runPolicy.metricsSchema);
  return check(metrics).map(({ metric, message }) => ({
    rule: 'metrics',
    severity: 'error',
    message: `metric \`${metric}\`: ${message}`,
  }));
}

/** Reports required artifacts that sealing would produce but that the spec's provenance policy excludes. */
function unsealable(spec: EffectiveIntentSpec): readonly Finding[] {
  const { mode } = spec.provenance.transparencyLog;
  if (mode !== 'none' && isAttested(spec)) return [];
  const wanted = spec.artifacts.required.some(
    ({ name, required }) => required && name === 'transparency-proof',
  );
  if (!wanted) return [];
  return [
    {
      rule: 'artifact-present',
      severity: 'error',
      message:
        mode === 'none'
          ? '`transparency-proof` is required, but `provenance.transparencyLog.mode` is `none`'
          : '`transparency-proof` is required, but there is no provenance to log: `requireSlsaProvenance` is `false`',
    },
  ];
}

function decidedStage(
  spec: EffectiveIntentSpec,
  name: DecidedStage['stage'],
  stages: readonly StageRecord[],
): DecidedStage {
  const record = stages.find((stage) => stage.stage === name);
  if (!record) {
    const expected = spec.acceptance.verificationPlan[`${name}Checks`].length;
    return { stage: name, status: 'not-started', expected, ran: 0, checks: [], findings: [] };
  }
  return toDecidedStage(record);
}

/** Calls the `decision.made` hook with the outcome of a run. */
export async function reportDecision(
  engine: WritEngine,
  { runId, decision, state }: RunView,
  judged: EvaluatedRun,
): Promise<void> {
  if (!decision) return;
  const { type, rationale, commitSha } = decision;
  const waitsFor = judged.decision.next === 'wait-for-budget' ? 'budget' : 'approval';
  await engine.hooks.decision.made.call({
    runId,
    type,
    rationale,
    ...(commitSha === undefined ? {} : { commitSha }),
    ...(state === 'waiting' ? { waiting: { for: waitsFor, needed: neededApprovals(judged) } } : {}),
  });
}

/** The language servers that answered the attempts of a run, for the provenance: each once. */
function answeringServers({ attempts }: Pick<PlanState, 'attempts'>): readonly DigestedThing[] {
  const all = attempts.flatMap(({ servers = [] }) => servers);
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

/** Bytes as JSON. A bundle may have 4 MiB; what is larger than this is named by its snapshot, which lists it. */
const maxListed = 1024 * 1024;

/**
 * Context inputs of a run's attempts, for the provenance: URI and digest of each distinct item of each snapshot. If
 * there are too many items to list, returns the digests of the snapshots.
 */
function contextDependencies({ context }: Pick<PlanState, 'context'>): readonly DigestedThing[] {
  const snapshots = [...context].sort(([a], [b]) => (a < b ? -1 : 1));
  const items = new Map<string, DigestedThing>();
  for (const [, { dependencies }] of snapshots) {
    for (const { name, ...thing } of dependencies) {
      const listed = { name: printable(name), ...thing };
      items.set(JSON.stringify(listed), listed);
    }
  }
  const size = [...items.keys()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (size <= maxListed) return [...items.values()];
  return snapshots.map(([attempt, { sha256 }]) => ({ name: `${attempt}/snapshot.json`, digest: { sha256 } }));
}

/** A path may hold what a statement may not. */
function printable(name: string): string {
  return name
    .replace(/\p{Cc}/gu, encodeURIComponent)
    .slice(0, 4096)
    .toWellFormed();
}
