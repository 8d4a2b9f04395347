/* Runs one attempt at a Task, from its base to its decision. */
import type { PlannedTask } from '../../core/interfaces/plan.ts';
import { lackingCitations } from '../../store/record/summaries.ts';
import { decideRun } from '../decide/decide-run.ts';
import { evaluateObserved, evaluatePatch } from '../evaluate/evaluate-patch.ts';
import { runStages, type StagesRun } from '../evaluate/run-stages.ts';
import { attemptFiles, type SettledAttempt } from '../record/attempt-files.ts';
import { type DecisionInput, maxWorkerReason } from '../record/decision-input.ts';
import { type EvaluatedRun, notApprovedYet } from '../record/evaluation-objects.ts';
import { failedOutput, failedTests, failureText } from '../record/failure-text.ts';
import { type PlanState, sensedBefore, withoutAttempt } from '../record/plan-state.ts';
import { planIdOf, taskIdOf } from '../record/work-objects.ts';
import { writeSnapshot } from '../state/context-snapshot.ts';
import { ranIn } from '../state/machine.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import { taskFacts, triggerOf } from './plan-work.ts';
import { attemptName, beginAttempt, type WorkedRecord, workAttempt } from './work-attempt.ts';

/** One attempt that is to be made. */
interface AttemptOrder {
  readonly task: PlannedTask;
  /** From 1, within the revision. */
  readonly attempt: number;
  readonly baseTree: string;
  readonly previousFailure?: string;
}

/** A decided attempt: its stored part, and the data for a final record. */
export interface EvaluatedAttempt {
  readonly settled: SettledAttempt;
  /** Attempt and result in full; rebuilt from the steps on demand. */
  readonly inFull: () => Promise<{ readonly attempt: Attempt; readonly judged: EvaluatedRun }>;
}

/**
 * Runs one attempt: base, snapshot, workspace, patchset, patch rules, fast stage, decision. Continues where an
 * earlier process stopped; reading back a settled attempt costs no work.
 */
export async function workTask(
  run: OpenRun,
  state: PlanState,
  order: AttemptOrder,
): Promise<EvaluatedAttempt> {
  const { task, baseTree } = order;
  const { revision } = state.draft;
  const name = attemptName(revision, task.number, order.attempt);
  const steps = run.services.steps.under(name);
  const settle = async (): Promise<SettledAttempt> => {
    const startedAtMs = await steps.once('started', () => run.services.settings.clock.now());
    const { attempt, judged, record, snapshot } = await judgeAttempt(run, state, order, name);
    const { usage, metrics, network, citations, tools = [], code } = record;
    const servers = code?.servers ?? [];
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
  const watched = { task: task.key, attempt: number };
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
  const { stages, dependencies } = ran;
  const attempt = ranIn(begun, ran);
  const judged = await decideRun(attempt, {
    subject: 'attempt',
    task: taskFacts(run, { key: task.key, attempt: number }),
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
