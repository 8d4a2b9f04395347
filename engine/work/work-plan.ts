/* Works on all Tasks of a plan and merges the results. */
import type { Clock } from '../../core/base/clock.ts';
import type { PlannedTask } from '../../core/interfaces/plan.ts';
import { lackingCitations } from '../../store/record/summaries.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { isCheckpointDue, taskLimit } from '../decide/budget.ts';
import { decideRun } from '../decide/decide-run.ts';
import { evaluateObserved, evaluatePatch } from '../evaluate/evaluate-patch.ts';
import { runStages, type StagesRun } from '../evaluate/run-stages.ts';
import { attemptFiles, type SettledAttempt } from '../record/attempt-files.ts';
import { type DecisionInput, maxWorkerReason } from '../record/decision-input.ts';
import { type EvaluatedRun, notApprovedYet } from '../record/evaluation-objects.ts';
import { failedOutput, failedTests, failureText, withOutput } from '../record/failure-text.ts';
import {
  addAttempt,
  attemptsAt,
  implementationTasks,
  type PlanState,
  sensedBefore,
  withoutAttempt,
} from '../record/plan-state.ts';
import { recordCheckpoint } from '../record/settle-run.ts';
import { planIdOf, taskIdOf } from '../record/work-objects.ts';
import { writeSnapshot } from '../state/context-snapshot.ts';
import { parallelLimit, ranIn } from '../state/machine.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import { acceptedWork, dropWork, type MergedWork, mergeWork, workBefore } from './merge-tasks.ts';
import { replan, taskFacts, triggerOf } from './plan-work.ts';
import { schedule } from './schedule.ts';
import { attemptName, beginAttempt, type WorkedRecord, workAttempt } from './work-attempt.ts';

/** How the work on a plan ended: with a merged tree, or with an attempt that ends or suspends the run. */
type PlanEnd =
  | { readonly kind: 'merged'; readonly tree: string; readonly only?: EvaluatedAttempt }
  | { readonly kind: 'ended'; readonly last: EvaluatedAttempt };

/**
 * Works on every Task of the plan until its attempt is accepted, and merges the results. Tasks run in parallel if
 * their writes allow it, with retries and replans as the spec requires. Every action is a step, so a later process
 * reaches the same state.
 */
export async function workPlan(run: OpenRun, state: PlanState): Promise<PlanEnd> {
  for (;;) {
    const worked = await workTasks(run, state);
    const stopped = worked.ended ?? (await mergeOrSettle(run, state, worked.judged));
    if ('tree' in stopped) return stopped;
    const { next } = stopped.settled.decision;
    if (next === 'retry') continue;
    if (next !== 'replan') return { kind: 'ended', last: stopped };
    const { key, failure, output } = stopped.settled;
    state.failure.set(key, withOutput(failure, output));
    await replan(run, state, { ...stopped.settled, keys: [key] });
  }
}

interface Worked {
  readonly judged: ReadonlyMap<string, EvaluatedAttempt>;
  /** An attempt that no further one of its Task may follow. */
  readonly ended?: EvaluatedAttempt;
}

async function workTasks(run: OpenRun, state: PlanState): Promise<Worked> {
  const spec = run.identity.contract.effective;
  const tasks = implementationTasks(state);
  const judged = new Map<string, EvaluatedAttempt>();
  const endings: EvaluatedAttempt[] = [];
  const limit = parallelLimit(spec, Number.POSITIVE_INFINITY);
  await schedule({
    tasks,
    done: state.accepted.keys(),
    limit: () => taskLimit(limit, { limitUnits: state.costLimit, usedUnits: state.costUnits }),
    signal: run.services.signal,
    work: async (task) => {
      const last = await settleTask(run, state, task);
      if (!last) return 'stop';
      judged.set(task.key, last);
      if (last.settled.decision.next === 'merge') return 'done';
      endings.push(last);
      return 'stop';
    },
  });
  // Several may have ended side by side: what stops the run goes before what changes its plan, then the plan's own
  // order.
  const weight = ({ settled }: EvaluatedAttempt): number => (settled.decision.next === 'replan' ? 1 : 0);
  const [ended] = endings.sort((a, b) => weight(a) - weight(b) || a.settled.number - b.settled.number);
  return { judged, ...(ended === undefined ? {} : { ended }) };
}

/** Attempts at one Task until one counts or none may follow; `undefined` where what it depends on does not merge. */
async function settleTask(
  run: OpenRun,
  state: PlanState,
  task: PlannedTask,
): Promise<EvaluatedAttempt | undefined> {
  for (;;) {
    const before = attemptsAt(state, task.key);
    const baseTree = state.onto.get(task.key) ?? (await baseOf(run, state, task));
    if (baseTree === undefined) return undefined;
    if (before.length > 0) await waitForRetry(run, before);
    const previousFailure = state.failure.get(task.key) ?? run.services.failedBefore;
    const judged = await workTask(run, state, {
      task,
      attempt: before.length + 1,
      baseTree,
      ...(previousFailure === undefined ? {} : { previousFailure }),
    });
    await account(run, state, judged.settled);
    const { next } = judged.settled.decision;
    if (next === 'merge') state.accepted.set(task.key, judged.settled);
    if (next !== 'retry') return judged;
    state.failure.set(task.key, withOutput(judged.settled.failure, judged.settled.output));
  }
}

/**
 * Adds an attempt to the totals. The attempt that brings the run to 90 % of its cost cap records a
 * Decision.Checkpoint.
 */
async function account(run: OpenRun, state: PlanState, settled: SettledAttempt): Promise<void> {
  // Drafting is not an attempt; its checkpoint is recorded with the first attempt.
  const before = state.attempts.length === 0 ? 0 : state.costUnits;
  addAttempt(state, settled);
  await state.frames?.add(settled);
  if (!isCheckpointDue(state.costLimit, before, state.costUnits)) return;
  const rationale = `${state.costUnits} of ${state.costLimit} cost units are used: one task at a time from here on`;
  await recordCheckpoint(run, 'budget', settled, rationale);
}

async function waitForRetry(run: OpenRun, before: readonly SettledAttempt[]): Promise<void> {
  const last = before.at(-1);
  if (!last) return;
  const { backoffSeconds } = run.identity.contract.effective.execution.retry;
  const seconds = retryWaitSeconds(backoffSeconds, before.length);
  const { clock } = run.services.settings;
  const due = await run.services.steps.once(`${last.name}/retry-at`, () => clock.now() + seconds * 1000);
  // A retry that was begun has waited.
  const next = `${nextName(last)}/settled`;
  if (run.services.steps.interrupted(next) || run.services.steps.ended(next)) return;
  await waitUntil(clock, due, run.services.signal);
}

function nextName({ name, attempt }: SettledAttempt): string {
  return name.replace(/\d+$/, String(attempt + 1));
}

/** The tree that a Task starts from: what it builds on, merged; `undefined` where that does not merge. */
async function baseOf(run: OpenRun, state: PlanState, task: PlannedTask): Promise<string | undefined> {
  return (await mergeWork(run, workBefore(state, task))).tree;
}

/** Returns the merged candidate. On a merge conflict, decides on the attempt of the Task that must be repeated. */
async function mergeOrSettle(
  run: OpenRun,
  state: PlanState,
  judged: Worked['judged'],
): Promise<Extract<PlanEnd, { kind: 'merged' }> | EvaluatedAttempt> {
  const tasks = implementationTasks(state);
  const isWhole = tasks.every(({ key }) => state.accepted.has(key));
  const work = acceptedWork(state);
  const merged = isWhole ? await mergeWork(run, work) : undefined;
  if (merged?.tree !== undefined) {
    const only = tasks.length === 1 ? judged.get(tasks[0]?.key ?? '') : undefined;
    return { kind: 'merged', tree: merged.tree, ...(only === undefined ? {} : { only }) };
  }
  if (merged) return settleConflict(run, state, work, merged.conflict);
  for (const task of tasks) {
    const before = workBefore(state, task);
    const { conflict } = await mergeWork(run, before);
    if (conflict) return settleConflict(run, state, before, conflict);
  }
  throw new TypeError('work stopped without a reason');
}

/**
 * Work that does not fit onto what others made is a failed attempt of its Task, which starts again on what they made.
 */
async function settleConflict(
  run: OpenRun,
  state: PlanState,
  work: readonly SettledAttempt[],
  { at, onto, paths }: NonNullable<MergedWork['conflict']>,
): Promise<EvaluatedAttempt> {
  const accepted = work[at];
  if (!accepted) throw new TypeError(`no accepted work at ${at}`);
  const { key } = accepted;
  const last = attemptsAt(state, key).at(-1) ?? accepted;
  const name = `${accepted.name}/conflict`;
  const inFull = async () => {
    const base = { commit: run.environment.base.commit, tree: accepted.baseTree };
    const attempt = beginAttempt(run, name, await normalisePatch(run.services.scratch, base, accepted.tree));
    const judged = await decideRun(attempt, {
      subject: 'attempt',
      task: taskFacts(run, last),
      worker: 'patch',
      conflicts: paths,
      findings: [],
      stages: [],
      dependencies: [],
      before: sensedBefore(state, key),
      human: notApprovedYet(run),
      state,
    });
    return { attempt, judged };
  };
  const { judged } = await inFull();
  const failure = `does not merge with the work of other tasks in ${paths.slice(0, 20).join(', ')}: start from what they made`;
  state.failure.set(key, failure);
  state.onto.set(key, onto);
  const earlier = work.slice(0, at).filter((one) => one.key === key).length;
  for (const one of withFollowers(state, key)) dropWork(state, one, one === key ? earlier : 0);
  const trigger = triggerOf(judged);
  return {
    settled: {
      ...withoutOutput(last),
      decision: judged.decision,
      failure,
      ...(trigger === undefined ? {} : { trigger }),
    },
    inFull,
  };
}

/** An attempt's output is unrelated to a later conflict. */
function withoutOutput({ output: _, ...settled }: SettledAttempt): SettledAttempt {
  return settled;
}

function withFollowers(state: PlanState, key: string): ReadonlySet<string> {
  const found = new Set([key]);
  // Dependants come after what they depend on.
  for (const task of implementationTasks(state)) {
    if (task.dependsOn.some((before) => found.has(before))) found.add(task.key);
  }
  return found;
}

/** Upper bound of the wait. */
const maxRetryWaitSeconds = 3600;

/** Seconds before the n-th retry, from 1: `backoffSeconds` × 2^(n−1), at most 3600. */
export function retryWaitSeconds(backoffSeconds: number, retry: number): number {
  // Bounds the exponent: 2^1024 is infinite, and 0 × infinity is NaN.
  const doublings = Math.min(Math.max(retry - 1, 0), 12);
  return Math.min(backoffSeconds * 2 ** doublings, maxRetryWaitSeconds);
}

/** How long the clock may have been stepped forward, or the machine asleep, before a wait notices. */
const lookEveryMs = 30_000;

/**
 * Waits until the clock has reached `dueMs` (epoch), which may have been written down by an earlier process. A clock
 * that steps back never lengthens the wait beyond what was left of it, and no wait exceeds the cap. Rejects with the
 * signal's reason.
 */
export async function waitUntil(clock: Clock, dueMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  let leftMs = Math.min(dueMs - clock.now(), maxRetryWaitSeconds * 1000);
  while (leftMs > 0) {
    const sliceMs = Math.min(leftMs, lookEveryMs);
    await clock.sleep(sliceMs, signal);
    signal?.throwIfAborted();
    leftMs = Math.min(leftMs - sliceMs, dueMs - clock.now());
  }
}

/** One attempt that is to be made. */
interface AttemptOrder {
  readonly task: PlannedTask;
  /** From 1, within the revision. */
  readonly attempt: number;
  readonly baseTree: string;
  readonly previousFailure?: string;
}

/** A decided attempt: its stored part, and the data for a final record. */
interface EvaluatedAttempt {
  readonly settled: SettledAttempt;
  /** Attempt and result in full; rebuilt from the steps on demand. */
  readonly inFull: () => Promise<{ readonly attempt: Attempt; readonly judged: EvaluatedRun }>;
}

/**
 * Runs one attempt: base, snapshot, workspace, patchset, patch rules, fast stage, decision. Continues where an
 * earlier process stopped; reading back a settled attempt costs no work.
 */
async function workTask(run: OpenRun, state: PlanState, order: AttemptOrder): Promise<EvaluatedAttempt> {
  const { task, baseTree } = order;
  const { revision } = state.draft;
  const name = attemptName(revision, task.number, order.attempt);
  const steps = run.services.steps.under(name);
  const settle = async (): Promise<SettledAttempt> => {
    const startedAtMs = await steps.once('started', () => run.services.settings.clock.now());
    const { attempt, judged, record, snapshot } = await judgeAttempt(run, state, order, name);
    const { usage, metrics, network, citations, tools = [], code, mcp } = record;
    const servers = [...(code?.servers ?? []), ...(mcp?.servers ?? [])];
    await run.services.record.put(
      attemptFiles(attempt, judged, {
        ids: { plan: planIdOf(run.identity, revision), task: taskIdOf(run.identity, revision, task.number) },
        number: order.attempt,
        usage,
        ...(metrics === undefined ? {} : { metrics }),
        ...(snapshot === undefined ? {} : { snapshot }),
        ...(citations === undefined ? {} : { citations }),
        steps: stepsOf(run, task),
        tools,
        startedAtMs,
        nowMs: await steps.once('settled-at', () => run.services.settings.clock.now()),
      }),
    );
    const trigger = triggerOf(judged);
    const output = failedOutput(judged.stages);
    return {
      name,
      revision,
      key: task.key,
      number: task.number,
      attempt: order.attempt,
      baseTree,
      tree: attempt.patch.candidateTree,
      decision: judged.decision,
      failure:
        record.kind === 'patch'
          ? failureText(judged.findings, judged.stages)
          : `${record.kind}: ${record.reason}`,
      ...(output === '' ? {} : { output }),
      failedTests: failedTests(judged.stages),
      ...(trigger === undefined ? {} : { trigger }),
      refusedPaths: judged.findings.flatMap(({ rule, severity, path }) =>
        rule === 'scope' && severity === 'error' && path !== undefined ? [path] : [],
      ),
      usage,
      ...(metrics === undefined ? {} : { metrics }),
      ...(network === undefined ? {} : { network }),
      ...(servers.length === 0 ? {} : { servers }),
      startedAtMs,
    };
  };
  // A waiting attempt is decided again next time: people may have granted what it waits for.
  const settled = await steps.once('settled', settle, ({ decision }) => !decision.next.startsWith('wait-'));
  const taken = await writeSnapshot(run, steps, name, baseTree);
  if (taken) state.context.set(name, taken);
  const inFull = () => judgeAttempt(run, withoutAttempt(state, settled), order, name);
  return { settled, inFull };
}

/** Plan steps of a Task: each step is an objective of the spec. */
function stepsOf(
  { identity: { contract } }: Pick<OpenRun, 'identity'>,
  task: PlannedTask,
): readonly number[] {
  const wanted = new Set(task.steps);
  return contract.effective.intent.objectives.flatMap((objective, index) =>
    wanted.has(objective) ? [index] : [],
  );
}

async function judgeAttempt(run: OpenRun, state: PlanState, order: AttemptOrder, name: string) {
  const { task, baseTree, attempt: number, previousFailure } = order;
  const { revision } = state.draft;
  const steps = run.services.steps.under(name);
  const base = { commit: run.environment.base.commit, tree: baseTree };
  const { watch } = run.services.settings;
  const facts = taskFacts(run, { key: task.key, attempt: number });
  const why = state.failure.get(task.key);
  const watched = {
    ...{ task: task.key, attempt: number, most: facts.maxRetries + 1 },
    ...(why === undefined ? {} : { why }),
  };
  watch?.attempt(watched, 'began');
  const snapshot = await writeSnapshot(run, steps, name, baseTree);
  const { patch, record } = await workAttempt(
    run,
    steps,
    base,
    {
      runId: run.identity.runId,
      taskId: taskIdOf(run.identity, revision, task.number),
      taskNumber: task.number,
      attempt: number,
      revision,
      title: task.title,
      goal: task.goal,
      steps: task.steps,
      constraints: task.constraints,
      acceptanceCriteria: task.acceptanceCriteria,
      ...(snapshot === undefined ? {} : { snapshot: snapshot.sha256 }),
      ...(previousFailure === undefined ? {} : { previousFailure }),
    },
    {
      task: task.key,
      isOfSeveral: implementationTasks(state).length > 1,
      ...(state.costLimit === 0 ? {} : { unitsLeft: state.costLimit - state.costUnits }),
      context: snapshot?.dependencies.flatMap(({ uri = '' }) => (/^https?:/.test(uri) ? [uri] : [])),
    },
  );
  const unseen = beginAttempt(run, name, patch);
  const isWork = record.kind === 'patch';
  const isPart = state.draft.tasks.filter(({ kind }) => kind === 'implementation').length > 1;
  const uncited = record.citations === undefined ? [] : lackingCitations(record.citations);
  // The only Task's attempt is the candidate: its fast stage counts, so its checks are observed now.
  const { attempt: begun, findings: found } =
    isWork && !isPart
      ? await evaluateObserved(unseen)
      : { attempt: unseen, findings: isWork ? await evaluatePatch(unseen, 'part') : [] };
  const findings = isWork ? [...found, ...uncited] : [];
  const isRejected = !isWork || findings.some(({ severity }) => severity === 'error');
  const ran: StagesRun = isRejected
    ? { stages: [], sandbox: begun.identity.sandboxName, dependencies: [], skipped: [] }
    : await runStages({ ...begun, patchFindings: findings, isPart }, ['fast']);
  begun.box.keep(record.artifacts ?? []);
  const { stages, dependencies } = ran;
  const attempt = ranIn(begun, ran);
  const judged = await decideRun(attempt, {
    subject: 'attempt',
    task: facts,
    worker: record.kind === 'unusable' ? 'failed' : record.kind,
    ...workerReason(record),
    conflicts: [],
    findings,
    stages,
    dependencies,
    before: sensedBefore(state, task.key).slice(0, number - 1),
    sensed: record.sourcesContradict ? ['evidence-conflict'] : [],
    human: notApprovedYet(run),
    state,
    usage: record.usage,
  });
  watch?.attempt(watched, judged.decision.next === 'merge' ? 'taken' : 'refused');
  return { attempt, judged, record, snapshot };
}

/** Why an attempt has no patch, for its decision: one line, bounded. The text may come from a model or a program. */
function workerReason(record: WorkedRecord): Pick<DecisionInput, 'workerReason'> {
  if (record.kind === 'patch') return {};
  const line = record.reason.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  if (line === '') return {};
  const isCut = line.length > maxWorkerReason;
  return { workerReason: isCut ? `${line.slice(0, maxWorkerReason - 1).toWellFormed()}…` : line };
}
