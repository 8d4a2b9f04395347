/** Pursues a goal, run after run, within its budget. */
import type { ModelMeter } from '../../agent/model-loop/open-model.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { readDraft } from '../../engine/draft/stored-draft.ts';
import { planRun } from '../../engine/plan-run.ts';
import { failedTests } from '../../engine/record/failure-text.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import {
  addAmounts,
  type BudgetReason,
  exhausted,
  type GoalAmounts,
  type GoalCriterion,
  noAmounts,
  pursuedGoal,
  type Rewriting,
  type SessionGoal,
} from '../state/goal.ts';
import { hasRun } from '../state/restored-state.ts';
import { openedNetwork } from './consent.ts';
import { draftStep } from './converse-step.ts';
import { blockGoal, chargeWork, patiently } from './goal-turn.ts';
import { type MadePlan, madePlans, makePlan, promptForPlan, requireDraft } from './plan-step.ts';
import { findRunOf, type SpentSoFar, spentSoFar, spentWords } from './run-outcome.ts';
import { type Execution, execute, remarkOf, resumePlan, settle, withNotes } from './run-step.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { verifyOffline } from './verify-step.ts';

/**
 * Executes the plan of a goal, then plans and runs again until a committed run passed every criterion's checks. If
 * the budget is used up, or two runs end the same, a person is prompted. A stopped run is resumed.
 */
export async function pursueStep(scope: TurnScope, execution: Execution): Promise<StepEnd> {
  const { networkAccess, notes } = execution;
  const before = await lastRun(scope, execution.plan);
  // Executed with another network it is another run.
  const isLeft =
    before !== undefined && !before.isJudged && networkAccess === (await networkOf(scope, execution.plan));
  let { plan } = execution;
  let advice = withNotes(plan, notes);
  let refused = before?.isJudged ? before.view : undefined;
  let left = isLeft ? before.view.runId : undefined;
  /** The next run; after a refused run it is planned again. */
  const runOnce = async (inner: TurnScope): Promise<RunView> => {
    if (refused !== undefined) {
      const { criteria } = requireGoal(inner);
      const remarks = [remarkOf(inner, refused), ...refutedRemark(criteria, refused)];
      ({ plan } = await makePlan(inner, { ...plan.run, remarks, networkAccess }));
      advice = plan.run.advice;
    }
    const begun = left;
    if (begun !== undefined) {
      await inner.emit({ type: 'run-began', runId: begun });
      await inner.emit({ type: 'planned', plan: { ...plan, status: 'running' } });
    }
    const runId = begun ?? (hasRun(inner.state(), plan.run.runId) ? inner.newId() : plan.run.runId);
    return patiently(inner, (tried) =>
      begun === undefined && tried === 0
        ? execute(inner, plan, { advice, refused, runId, networkAccess })
        : resumePlan(inner, runId, plan),
    );
  };
  for (;;) {
    const before = spentSoFar(scope);
    const ran = await underBudget(scope, runOnce);
    if ('usedUp' in ran) return stopAt(scope, { plan, networkAccess }, ran.usedUp);
    const doubted = left === undefined ? undefined : await whyDoubted(scope, ran.done);
    if (doubted !== undefined) return doubted;
    const ended = await evaluateRun(scope, { plan, networkAccess }, ran.done, before);
    if (ended !== 'again') return ended;
    refused = ran.done;
    left = undefined;
  }
}

/** Ends the step over a used-up budget: the run can be resumed, and a person is prompted. */
async function stopAt(
  scope: TurnScope,
  { plan, networkAccess }: Pursued,
  reason: BudgetReason,
): Promise<StepEnd> {
  await scope.emit({ type: 'tools-stopped' });
  const now = scope.state().plans.find(({ id }) => id === plan.id);
  if (now?.status === 'running') {
    const { updatedAtMs: _, ...told } = now;
    await scope.emit({ type: 'planned', plan: { ...told, status: 'cancelled' } });
  }
  await blockGoal(scope, requireGoal(scope), reason, usedUp);
  return promptAgain(scope, plan, networkAccess);
}

const usedUp = 'the budget is used up; Execute grants one more';

/** Resumes the run of a killed process within the rest of the budget. A person decides how to continue after it. */
export async function resumePursued(scope: TurnScope, runId: string, plan: MadePlan): Promise<StepEnd> {
  const networkAccess = await networkOf(scope, plan);
  const before = spentSoFar(scope);
  const ran = await underBudget(scope, (inner) => resumePlan(inner, runId, plan));
  if ('usedUp' in ran) return stopAt(scope, { plan, networkAccess }, ran.usedUp);
  const doubted = await whyDoubted(scope, ran.done);
  if (doubted !== undefined) return doubted;
  const ended = await evaluateRun(scope, { plan, networkAccess }, ran.done, before);
  return ended === 'again' ? promptAgain(scope, plan, networkAccess) : ended;
}

/** The record of a resumed run is untrusted: a commit in it must verify before the goal is achieved. */
async function whyDoubted(scope: TurnScope, view: RunView): Promise<Exclude<StepEnd, 'waits'> | undefined> {
  if (view.decision?.type !== 'commit') return undefined;
  const { refusal } = await verifyOffline(scope, view.runId);
  if (refusal === undefined) return undefined;
  await blockGoal(
    scope,
    requireGoal(scope),
    'failed',
    `run ${view.runId} is not what was evaluated: ${refusal}`,
  );
  return { end: 'done' };
}

/** What a plan was executed with. */
async function networkOf({ setting }: TurnScope, { run }: MadePlan): Promise<'allow' | 'deny'> {
  const kept = readDraft(await openRepository(setting.repositoryPath, { onlyReads: true }), run.runId);
  return kept === undefined ? 'deny' : openedNetwork(kept.specBytes).networkAccess;
}

type Pursued = Pick<Execution, 'plan' | 'networkAccess'>;

/** What a run of a goal came to: it is achieved, it stops for a reason, or it goes on. */
async function evaluateRun(
  scope: TurnScope,
  { plan, networkAccess }: Pursued,
  view: RunView,
  before: SpentSoFar,
): Promise<StepEnd | 'again'> {
  const ended = await settle(scope, plan, view);
  const goal = requireGoal(scope);
  const { runId: run, decision, waiting } = view;
  if (waiting !== undefined) {
    await blockGoal(scope, goal, 'awaiting_people', `run ${run} waits for people`);
    return ended === 'failed' ? { end: 'done' } : ended;
  }
  const rewritten = rewritingOf(goal, view);
  const criteria = evaluateCriteria(goal.criteria, view, rewritten?.checks);
  const trace = traceOf(view);
  const isAchieved = decision?.type === 'commit' && areAccepted(criteria) && rewritten === undefined;
  const change = {
    judged: run,
    trace,
    criteria,
    loops: goal.loops + 1,
    ...(rewritten === undefined ? {} : { rewritten }),
  };
  await scope.emit({
    type: 'goal-moved',
    goal: goal.id,
    change: isAchieved ? { ...change, status: 'achieved' } : change,
  });
  if (isAchieved) {
    const text = `achieved: run ${run} is committed, and the checks of every criterion passed in its gates`;
    await scope.note('Goal', text);
    return { end: 'decided' };
  }
  const { budget } = requireGoal(scope);
  const cost = `this run and its plan: ${spentWords(before, spentSoFar(scope))}`;
  const used = exhausted(budget);
  if (rewritten !== undefined)
    await blockGoal(scope, goal, 'expectation_changed', rewrittenText(scope, run, rewritten));
  else if (used !== undefined) await blockGoal(scope, goal, used, usedUp);
  else if (trace === goal.trace) await blockGoal(scope, goal, 'no_progress', `${noProgress}\n${cost}`);
  else if (goal.status === 'active') {
    const text = `run ${goal.loops + 1} did not achieve it; it is replanned and runs again by itself\n${cost}`;
    await scope.note('Goal', text);
    return 'again';
  }
  return promptAgain(scope, plan, networkAccess);
}

const noProgress = 'neither the files nor what failed are others than before';

/** Tests that are named in a note. */
const mostNamed = 5;

function rewrittenText(
  { setting: { approval } }: Pick<TurnScope, 'setting'>,
  run: string,
  { base, tests, paths }: Rewriting,
): string {
  const shown = (text: string): string => approval.mask(text).replace(/\s+/g, ' ');
  const named = tests.slice(0, mostNamed).map((name) => `- ${shown(name)}`);
  const left = tests.length - named.length;
  const files = paths.slice(0, mostNamed).map((path) => `\`${shown(path)}\``);
  return [
    `run ${run} is committed, but these tests failed at its base and pass only because the change rewrote them:`,
    ...named,
    ...(left > 0 ? [`- and ${left} more`] : []),
    `Review the commit. The goal is achieved only if these tests pass as they were at ${base.slice(0, 12)} (${files.join(', ')}). To pursue it further, say that the tests are to be restored (a bugfix also needs a new test case), or execute the plan. If the new expectation is right, cancel the goal: the commit stays.`,
  ].join('\n');
}

/**
 * Tests that the goal's runs rewrote and that do not pass yet as they were before. Returns `undefined` for a run
 * without a commit.
 */
function rewritingOf(
  { rewritten }: Pick<SessionGoal, 'rewritten'>,
  { decision, baseCommit = '', stages }: Pick<RunView, 'decision' | 'baseCommit' | 'stages'>,
): Rewriting | undefined {
  const found = rewrittenTests({ stages });
  if (decision?.type !== 'commit' || found.tests.length === 0) return undefined;
  return { base: rewritten?.base ?? baseCommit, ...found };
}

function requireGoal({ state }: Pick<TurnScope, 'state'>): SessionGoal {
  const goal = pursuedGoal(state());
  if (goal === undefined) throw new TypeError('a step of a goal that is pursued no more');
  return goal;
}

/** What was committed and does not do yet. */
function refutedRemark(criteria: readonly GoalCriterion[], { decision }: RunView): readonly string[] {
  const refuted = criteria.filter(({ status }) => status === 'refuted');
  if (decision?.type !== 'commit' || refuted.length === 0) return [];
  const lines = refuted.map(({ text, checks }) => `- ${text} (verified by ${checks.join(', ')})`);
  return [`It was committed, and these criteria do not hold yet:\n${lines.join('\n')}`];
}

/**
 * Evaluates criteria against a run. In a committed run, a criterion is accepted if each of its checks ran and passed
 * and is not among `rewrittenChecks`, which run tests that the goal's runs rewrote. Otherwise it is refuted. In any
 * other run, it is refuted if one of its checks failed. A model's claims are not read. Pure.
 */
export function evaluateCriteria(
  criteria: readonly GoalCriterion[],
  { decision, stages }: Pick<RunView, 'decision' | 'stages'>,
  rewrittenChecks: readonly string[] = [],
): readonly GoalCriterion[] {
  const isCommit = decision?.type === 'commit';
  const checks = stages.flatMap((stage) => stage.checks);
  const results = new Map(
    checks.map((check) => [check.id, rewrittenChecks.includes(check.id) ? 'rewritten' : check.status]),
  );
  return criteria.map((criterion) => {
    const found = criterion.checks.map((id) => results.get(id));
    const holds = found.length > 0 && found.every((status) => status === 'passed');
    if (isCommit) return { ...criterion, status: holds ? 'accepted' : 'refuted' };
    return { ...criterion, status: found.includes('failed') ? 'refuted' : 'open' };
  });
}

/**
 * Tests that failed at the base and pass, or are gone, only because the run's change rewrote test files (rule
 * `tests-kept`), with their checks and files.
 */
export function rewrittenTests({ stages }: Pick<RunView, 'stages'>): Omit<Rewriting, 'base'> {
  const red = stages
    .flatMap(({ checks }) => checks)
    .flatMap(({ id, findings }) => findings.map(({ detail }) => ({ id, detail })))
    .filter(({ detail }) => detail?.redAtBase === true);
  const each = (part: 'tests' | 'paths'): readonly string[] => [
    ...new Set(red.flatMap(({ detail }) => [detail?.[part] ?? []].flat().map(String))),
  ];
  return { checks: [...new Set(red.map(({ id }) => id))], tests: each('tests'), paths: each('paths') };
}

/** Whether each criterion was verified. False for an empty list. */
export function areAccepted(criteria: readonly GoalCriterion[]): boolean {
  return criteria.length > 0 && criteria.every(({ status }) => status === 'accepted');
}

/** The previous run of a goal's plan, and whether it was evaluated. */
interface LastRun {
  readonly view: RunView;
  readonly isJudged: boolean;
}

/** The last run of this plan; `undefined` for a new plan, and where the run was never written down. */
async function lastRun(
  { setting, state }: Pick<TurnScope, 'setting' | 'state'>,
  plan: MadePlan,
): Promise<LastRun | undefined> {
  const { run, judged } = pursuedGoal(state()) ?? {};
  if (run === undefined || plan.run.hasBegun !== true) return undefined;
  const found = await findRunOf({ setting }, run);
  return found && { view: found.view, isJudged: run === judged };
}

/** Digest of a run's result: its files, and the failed checks and tests. The same digest twice is no progress. Pure. */
function traceOf({ patch, stages }: Pick<RunView, 'patch' | 'stages'>): string {
  return sha256Hex(JSON.stringify([patch?.digest ?? null, [...failedTests(stages)].sort()]));
}

/** What was done within a budget, or what of it was used up before that was done. */
type Budgeted<T> = { readonly done: T } | { readonly usedUp: BudgetReason };

const lookAgainMs = 300_000;
const unitsPerUsd = 1000;

/**
 * Does something for the goal that is pursued as long as its budget lasts. When tokens or money are used up no further
 * question is put to a model; when the time is, whatever runs is stopped. What had begun can be gone on with.
 */
async function underBudget<T>(scope: TurnScope, act: (inner: TurnScope) => Promise<T>): Promise<Budgeted<T>> {
  const goal = pursuedGoal(scope.state());
  if (goal === undefined) throw new TypeError('a budget of a goal that there is not');
  await chargeWork(scope);
  const { limit } = goal.budget;
  const before = pursuedGoal(scope.state())?.budget.used ?? goal.budget.used;
  let asked: GoalAmounts = noAmounts;
  let usedUp: BudgetReason | undefined;
  const over = new AbortController();
  const stop = (reason: BudgetReason): WritError => {
    usedUp ??= reason;
    const stopped = new WritError('RUN_INTERRUPTED', { message: `the goal's budget is used up: ${reason}` });
    over.abort(stopped);
    return stopped;
  };
  const inner = scope.within(over.signal);
  /** Counts usage at once; the report of it comes later. */
  const counting = (meter: ModelMeter): ModelMeter => ({
    begin(question) {
      const reason = exhausted({ limit, used: { ...addAmounts(before, asked), workMs: 0 } });
      if (reason !== undefined) throw stop(reason);
      const settle = meter.begin(question);
      return (reply) => {
        if (reply !== undefined) {
          const { usage, costUnits = 0 } = reply;
          const tokens = usage.input + usage.output;
          asked = addAmounts(asked, { tokens, costUsd: costUnits / unitsPerUsd, workMs: 0 });
        }
        settle(reply);
      };
    },
  });
  const ended = new AbortController();
  const timed = keepTime(inner, limit.workMs, AbortSignal.any([ended.signal, inner.signal])).then(
    () => void stop('budget_time'),
    () => undefined,
  );
  try {
    return { done: await act({ ...inner, meter: (plan) => counting(inner.meter(plan)) }) };
  } catch (fault) {
    if (usedUp === undefined || scope.signal.aborted) throw fault;
    return { usedUp };
  } finally {
    ended.abort();
    await timed;
    await chargeWork(scope);
  }
}

/** Resolves when so much was worked; rejects with the reason of the signal. */
async function keepTime(scope: TurnScope, limitMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await chargeWork(scope);
    const left = limitMs - (pursuedGoal(scope.state())?.budget.used.workMs ?? limitMs);
    if (left <= 0) return;
    await scope.setting.clock.sleep(Math.min(left, lookAgainMs), signal);
  }
}

/** Shows the question about an existing plan again; no model is called. */
async function promptAgain(
  scope: TurnScope,
  plan: MadePlan,
  networkAccess: 'allow' | 'deny',
): Promise<StepEnd> {
  const { engine, source, repositoryPath } = scope.setting;
  const { runId, repair } = plan.run;
  const kept = requireDraft(await openRepository(repositoryPath, { onlyReads: true }), runId);
  const planned = await planRun(engine, {
    ...settingsOfRun(scope),
    source,
    who: 'worker',
    specBytes: kept.specBytes,
  });
  await promptForPlan(scope, plan, { plan: planned }, { runId, remarks: [], repair, networkAccess });
  return 'waits';
}

/**
 * The first step of a goal's turn: drafts a spec of the objective. A resumed goal with a plan shows the question
 * about it: execution always needs consent.
 */
export async function goalStep(scope: TurnScope): Promise<StepEnd> {
  const { state, setting } = scope;
  const goal = pursuedGoal(state());
  if (goal === undefined) throw new TypeError('a turn of a goal that there is not');
  const plan = madePlans(state()).findLast(({ run }) => run.runId === goal.draft);
  if (plan !== undefined) return promptAgain(scope, plan, setting.networkAccess);
  return draftStep(scope, [goal.objective]);
}
