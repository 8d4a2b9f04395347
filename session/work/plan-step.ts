/** Plans a confirmed draft and prompts for its execution. */
import { lstat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { compact } from '../../api/envelope.ts';
import { continueIntent } from '../../api/intent/lifecycle.ts';
import { WritError } from '../../core/base/errors.ts';
import { type KeptDraft, keepDraft, readDraft } from '../../engine/draft/stored-draft.ts';
import type { TaskAdvice } from '../../engine/plan/plan-advice.ts';
import { type PlannedContract, planContract } from '../../engine/plan-run.ts';
import { workspaceFingerprint } from '../../workspace/git/dirty-paths.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { limitOf } from '../state/change-settings.ts';
import { pursuedGoal, type SessionGoal, toGoalView, toNumbers } from '../state/goal.ts';
import type { PlanMetadata } from '../state/question.ts';
import type { SessionState } from '../state/state.ts';
import { type StepCost, shortBudget, shortCap } from '../state/usage.ts';
import { type PlanStep, type Repair, repairs, type SessionPlan } from '../state/work.ts';
import { patiently } from './goal-turn.ts';
import { localChangesOfDraft } from './reply-pieces.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { sendReviewed, sendRuns, untoldReviews, untoldRuns } from './untold.ts';

/** Begins the subject of the question what is to be done with a plan. */
export const choiceSubject = 'choice ';

/** What of a talk a plan is made of. */
export interface PlanWish {
  /** The draft that was confirmed. */
  readonly runId: string;
  /** Comments on earlier plans, and their results. */
  readonly remarks: readonly string[];
  readonly repair: Repair;
  readonly networkAccess: 'allow' | 'deny';
}

export type MadePlan = Omit<SessionPlan, 'updatedAtMs'> & Required<Pick<SessionPlan, 'run'>>;

/** The plans of the engine in a session, oldest first. */
export function madePlans({ plans }: Pick<SessionState, 'plans'>): readonly MadePlan[] {
  return plans.filter((one): one is MadePlan & typeof one => one.run !== undefined);
}

export const unrepaired: Repair = { attempt: 0, limit: repairs.threshold };

/** Plans a confirmed draft and prompts for its execution. */
export async function planStep(scope: TurnScope, wish: PlanWish): Promise<StepEnd> {
  const { plan, planned } = await makePlan(scope, wish);
  await promptForPlan(scope, plan, planned, wish);
  return 'waits';
}

/** Makes and records a plan, without a question. */
export async function makePlan(
  scope: TurnScope,
  { runId, remarks, repair }: PlanWish,
): Promise<{ readonly plan: MadePlan; readonly planned: PlannedContract }> {
  const { setting, state, emit, meter } = scope;
  const { engine, source, repositoryPath } = setting;
  const repository = await openRepository(repositoryPath);
  const kept = await openDraft(scope, repository, runId);
  const reviewed = untoldReviews(scope, 'plan');
  const ran = untoldRuns(scope);
  const request = {
    ...settingsOfRun(scope),
    ...(await localChangesOfDraft(scope, runId)),
    runId,
    source,
    specBytes: kept.specBytes,
    target: await setting.target(),
    meter: meter(),
    remarks: [
      ...remarks,
      ...(reviewed === undefined ? [] : [reviewed.text]),
      ...(ran === undefined ? [] : [ran.text]),
    ],
    spent: kept.spent,
  };
  const planned = await patiently(scope, () => planContract(engine, request));
  if (reviewed !== undefined) await sendReviewed(scope, reviewed, 'plan');
  if (ran !== undefined) await sendRuns(scope, ran);
  // The answer about local changes may be new in it.
  const answered = requireDraft(repository, runId);
  await keepDraft(repository, { ...answered, spent: planned.spent });
  const revision = (state().plans.findLast(({ run }) => run?.runId === runId)?.run?.revision ?? 0) + 1;
  const { advice } = planned;
  const steps = stepsOf(planned);
  const size = kept.specBytes.length;
  const estimated = await estimatePlan(state(), repository.root, size, { steps, advice });
  const plan: MadePlan = {
    id: `${runId}/${revision}`,
    title: planned.plan.contract.effective.intent.summary,
    summary: summaryOf(planned),
    status: 'proposed',
    steps,
    ...estimated,
    run: { runId, revision, advice, repair },
  };
  await emit({ type: 'planned', plan });
  return { plan, planned };
}

/** The confirmed draft. If the last run of the goal was committed and closed its intent, it gets another id. */
async function openDraft(
  { setting: { engine, repositoryPath }, state, emit, newId }: TurnScope,
  repository: Repository,
  runId: string,
): Promise<KeptDraft> {
  const kept = requireDraft(repository, runId);
  const closedBy = pursuedGoal(state())?.judged;
  if (closedBy === undefined) return kept;
  const id = newId();
  const next = await continueIntent(engine, repositoryPath, kept.specBytes, { closedBy, id });
  if (next === undefined) return kept;
  const { specBytes, digest } = next;
  await keepDraft(repository, { ...kept, specBytes });
  const { draft } = state();
  if (draft?.runId === runId) await emit({ type: 'drafted', draft: { ...draft, digest, intentId: id } });
  return { ...kept, specBytes, drafted: specBytes };
}

/** Prompts for the execution of a plan; the answer is valid while the working tree is unchanged. */
export async function promptForPlan(
  { setting, state, emit }: TurnScope,
  plan: MadePlan,
  { plan: { contract, stages, scope, notices }, unadvised }: Pick<PlannedContract, 'plan' | 'unadvised'>,
  { networkAccess, repair }: PlanWish,
): Promise<void> {
  const earlier = state()
    .plans.filter(({ run, id }) => run?.runId === plan.run.runId && id !== plan.id)
    .at(-1);
  const goal = pursuedGoal(state());
  const estimated = totalOf(plan.estimates ?? []);
  const short = [
    shortBudget(limitOf(state()), state().usage, estimated),
    shortCap(contract.effective.constraints.resources, estimated),
  ].filter((words) => words !== undefined);
  await emit({
    type: 'ask',
    subject: `${choiceSubject}${plan.id}`,
    kind: 'post_plan_choice',
    ...compact({ title: plan.title, description: plan.summary }),
    prompt: promptOf(repair, goal),
    metadata: {
      planId: plan.id,
      runId: plan.run.runId,
      revision: plan.run.revision,
      networkAccess,
      workspace: await workspaceFingerprint(await openRepository(setting.repositoryPath)),
      lines: plan.steps.map(({ id }) => id),
      estimates: plan.estimates ?? [],
      estimated,
      estimatedFrom: plan.estimatedFrom ?? 0,
      changes: changedLines(earlier, plan),
      riskLevel: contract.effective.risk.level,
      scope: scope.wholeRepository ? ['the whole repository'] : scope.write,
      stages: stages.map(({ stage, checks }) => ({ stage, checks: checks.map(({ id }) => id) })),
      notices: [...short, ...notices.map(({ message }) => message)],
      ...(unadvised === undefined ? {} : { unadvised }),
      ...(repair.attempt === 0 ? {} : { repair: { ...repair, cap: repairs.cap } }),
      ...(goal === undefined ? {} : ofGoal(goal)),
    },
  });
}

function promptOf({ attempt }: Repair, goal: SessionGoal | undefined): string {
  if (goal?.blockReason !== undefined)
    return `The goal is blocked (${goal.blockReason}). Grant one more budget and go on?`;
  if (goal !== undefined)
    return 'Execute this plan, and go on until the goal is achieved or the budget used up?';
  return attempt === 0 ? 'Execute this plan?' : 'The plan failed. Execute the revised one?';
}

/** What a person should know of a goal before its plan is executed: Execute grants what it may use up. */
function ofGoal(goal: SessionGoal): Pick<PlanMetadata, 'goal' | 'grants' | 'stopped'> {
  const { objective: _, ...shown } = toGoalView(goal);
  return {
    goal: shown,
    grants: toNumbers(goal.budget.grant),
    ...(goal.blockReason === undefined ? {} : { stopped: goal.blockReason }),
  };
}

/** Reads a draft. DRAFT_REFUSED if it was removed. */
export function requireDraft(repository: Pick<Repository, 'commonDir'>, runId: string): KeptDraft {
  const kept = readDraft(repository, runId);
  if (kept !== undefined) return kept;
  throw new WritError('DRAFT_REFUSED', {
    message: 'the draft of this plan is no longer stored',
    detail: { run_id: runId },
  });
}

function stepsOf({ plan: { tasks } }: PlannedContract): readonly PlanStep[] {
  return tasks.flatMap(({ key, kind, steps }) =>
    kind === 'implementation'
      ? steps.map((step, at) => ({ id: `${key}.${at + 1}`, step, status: 'pending' as const, task: key }))
      : [{ id: key, step: `check: ${steps.join(', ')}`, status: 'pending' as const, task: key }],
  );
}

function summaryOf({ plan: { contract, scope, tasks } }: PlannedContract): string {
  const { summary, problemStatement } = contract.effective.intent;
  const work = tasks.filter(({ kind }) => kind === 'implementation').length;
  const places = scope.wholeRepository ? 'the whole repository' : scope.write.join(', ');
  return `${summary}. ${problemStatement}\n${work} ${work === 1 ? 'task' : 'tasks'}; may write ${places}.`;
}

const maxChanges = 100;

/** Lines that a plan has and the one before it had not, and the other way round. */
function changedLines(before: SessionPlan | undefined, after: MadePlan): readonly string[] {
  if (before === undefined) return [];
  const [old, now] = [before, after].map(({ steps }) => steps.map(({ step }) => step));
  const gone = (old ?? []).filter((line) => !now?.includes(line)).map((line) => `- ${line}`);
  const come = (now ?? []).filter((line) => !old?.includes(line)).map((line) => `+ ${line}`);
  return [...gone, ...come].slice(0, maxChanges);
}

const maxFiles = 200;

/** Estimates the cost of a plan from its spec, the files that its Tasks are to write, and the thread's past cost. */
async function estimatePlan(
  { plans, usage: { turn } }: Pick<SessionState, 'plans' | 'usage'>,
  root: string,
  contractBytes: number,
  { steps, advice }: { readonly steps: readonly PlanStep[]; readonly advice: readonly TaskAdvice[] },
): Promise<Required<Pick<SessionPlan, 'estimates' | 'estimatedFrom'>>> {
  const tasks: { line: string; fileBytes: number }[] = [];
  for (const { key, writes } of advice) {
    const line = steps.find(({ task }) => task === key)?.id;
    if (line !== undefined) tasks.push({ line, fileBytes: await bytesOf(root, writes) });
  }
  const tokens = turn === undefined ? 0 : turn.inputTokens + turn.outputTokens;
  const isPriced = turn?.costUsd !== undefined && turn.unpriced !== true && tokens > 0;
  const earlier = plans.flatMap(({ actuals = [] }) => actuals.map((one) => one.tokens));
  const estimates = estimateSteps({
    tasks,
    contractBytes,
    earlier,
    ...(isPriced ? { usdPerToken: (turn.costUsd ?? 0) / tokens } : {}),
  });
  return { estimates, estimatedFrom: earlier.length };
}

/** Of files that are there; a place outside, a directory and a pattern have no size. */
async function bytesOf(root: string, paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths.slice(0, maxFiles)) {
    if (isAbsolute(path) || normalize(path).startsWith('..')) continue;
    const found = await lstat(join(root, path)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}

/** What is known of the work at a plan before it begins. */
interface WorkAhead {
  /** Each Task that a model works at: its first line, and how large the files are that it is to write. */
  readonly tasks: readonly { readonly line: string; readonly fileBytes: number }[];
  readonly contractBytes: number;
  /** Tokens that Tasks of this thread came to before. */
  readonly earlier: readonly number[];
  /** Price of a token in this turn; absent if unknown. */
  readonly usdPerToken?: number;
}

const charactersPerToken = 4;
/** Instructions and tools, questions until a small Task is done, and tokens of one reply: as assumed, not measured. */
const [standing, turns, reply] = [3000, 6, 300];

/**
 * Estimated tokens and cost of each Task: the median of the thread's Tasks before, else what its questions hold, each
 * of them everything before it, while its files are read. Pure; an estimate, and no promise.
 */
export function estimateSteps({
  tasks,
  contractBytes,
  earlier,
  usdPerToken,
}: WorkAhead): readonly StepCost[] {
  const known = median(earlier);
  return tasks.map(({ line, fileBytes }) => {
    const first = standing + contractBytes / charactersPerToken;
    const grown = fileBytes / charactersPerToken + turns * reply;
    const tokens = Math.round(known ?? turns * (first + grown / 2) + turns * reply);
    return { line, tokens, ...(usdPerToken === undefined ? {} : { costUsd: toUsd(tokens * usdPerToken) }) };
  });
}

/** All of them together; without a cost where one has none. */
export function totalOf(costs: readonly StepCost[]): Omit<StepCost, 'line'> {
  const tokens = costs.reduce((sum, one) => sum + one.tokens, 0);
  const known = costs.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]));
  const usd = known.reduce((sum, one) => sum + one, 0);
  return { tokens, ...(known.length === costs.length && costs.length > 0 ? { costUsd: toUsd(usd) } : {}) };
}

function toUsd(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
