/** What every step of a goal shares: retries, time, and reasons to block it. */
import type { ErrorCode } from '../../core/base/error-codes.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { FailureKind } from '../../core/interfaces/model.ts';
import { knownRunner } from '../../engine/draft/draft-intent.ts';
import { type VerifiedCriterion, withoutSuite } from '../../engine/intent/draft/verified-criteria.ts';
import { scopeRootOf } from '../../engine/plan/scope.ts';
import { checksOf } from '../../spec/checks-of.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { resolveBase } from '../../workspace/git/resolve-commit.ts';
import { type BlockReason, type GoalCriterion, pursuedGoal, type SessionGoal } from '../state/goal.ts';
import type { StepEnd, TurnScope } from './turn-scope.ts';

/** Blocks a goal and notes why. */
export async function blockGoal(
  { emit, note }: Pick<TurnScope, 'emit' | 'note'>,
  { id }: Pick<SessionGoal, 'id'>,
  blockReason: BlockReason,
  text: string,
): Promise<void> {
  await emit({ type: 'goal-moved', goal: id, change: { status: 'blocked', blockReason } });
  await note('Goal', `blocked (${blockReason}): ${text}`);
}

/** Counts the time that a turn has worked since it was counted last as its goal's. */
export async function chargeWork({ state, emit, worked }: TurnScope): Promise<void> {
  const workedMs = worked.take();
  const goal = pursuedGoal(state());
  if (goal !== undefined && workedMs > 0)
    await emit({ type: 'goal-moved', goal: goal.id, change: { workedMs } });
}

/** Milliseconds before each retry of a failed provider, for a goal. */
const waitsMs = [30_000, 60_000, 120_000] as const;

/** Failures that pass by themselves; every other one is the same next time. */
const passing: ReadonlySet<FailureKind> = new Set([
  'rate-limited',
  'overloaded',
  'server',
  'unreachable',
  'broken-reply',
]);

/**
 * Retries after a transient failure of a provider, with growing waits, for a goal only. `tried` is the number of
 * earlier attempts. A cancelled turn ends the wait.
 */
export async function patiently<T>(
  { state, note, signal, setting: { clock } }: TurnScope,
  act: (tried: number) => Promise<T>,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await act(tried);
    } catch (fault) {
      signal.throwIfAborted();
      const waitMs = waitsMs[tried];
      if (waitMs === undefined || !isPassing(fault) || pursuedGoal(state()) === undefined) throw fault;
      const text = `the provider failed; it is asked again in ${waitMs / 1000} s (${tried + 1} of ${waitsMs.length})`;
      await note('Goal', text);
      await clock.sleep(waitMs, signal);
    }
  }
}

function isPassing(fault: unknown): boolean {
  if (!isWritError(fault, 'PROVIDER_FAILED')) return false;
  const { kind } = fault.detail as { readonly kind?: FailureKind };
  return kind !== undefined && passing.has(kind);
}

/** Does one step; of a goal its time is counted, and what it fails for blocks the goal by its name. */
export async function supervise(
  scope: TurnScope,
  act: (scope: TurnScope) => Promise<StepEnd>,
): Promise<StepEnd> {
  if (pursuedGoal(scope.state()) === undefined) return act(scope);
  try {
    return await act(scope);
  } catch (fault) {
    const goal = pursuedGoal(scope.state());
    const reason = reasonOf(fault);
    if (goal !== undefined && reason !== undefined && !scope.signal.aborted)
      await blockGoal(scope, goal, reason, goesOn);
    throw fault;
  } finally {
    await chargeWork(scope);
  }
}

/** The end of the turn has the reason. */
const goesOn = '`/goal start` goes on with it, `/goal cancel` gives it up';

/** `undefined` if the end of the turn gives the reason. */
function reasonOf(fault: unknown): BlockReason | undefined {
  return isWritError(fault) ? reasons[fault.code] : undefined;
}

const reasons: Readonly<Partial<Record<ErrorCode, BlockReason>>> = {
  PROVIDER_FAILED: 'provider_failed',
  DRAFT_REFUSED: 'draft_refused',
  DRAFT_UNSUPPORTED: 'draft_refused',
  REQUEST_INVALID: 'draft_refused',
  SESSION_BUDGET_SPENT: 'session_budget',
  SESSION_BUDGET_UNPRICED: 'session_budget',
};

/**
 * Links the criteria of a goal to the checks of its draft. If a criterion has no check, the goal is blocked and the
 * turn ends.
 */
export async function holdGoal(
  scope: TurnScope,
  goal: SessionGoal,
  draft: string,
  verified: readonly VerifiedCriterion[],
): Promise<readonly GoalCriterion[] | Exclude<StepEnd, 'waits'>> {
  const criteria = goal.criteria.map(
    ({ id, text }): GoalCriterion => ({
      id,
      text,
      checks: verified.find(({ criterion }) => criterion === id)?.checks ?? [],
      status: 'open',
    }),
  );
  await scope.emit({ type: 'goal-moved', goal: goal.id, change: { draft, criteria } });
  const untied = criteria.filter(({ checks }) => checks.length === 0);
  if (untied.length === 0) return criteria;
  return blockUnverifiable(scope, goal, 'no check of the draft verifies', untied);
}

/**
 * A person may edit a draft before confirming it. The goal is blocked and the turn ends if a check that verifies a
 * criterion is gone or no longer required. The same applies if it leaves the criterion without a `testSuite` although
 * the test runner is known. `undefined` if the turn may go on.
 */
export async function requireVerifiable(
  scope: TurnScope,
  specBytes: Uint8Array,
): Promise<Exclude<StepEnd, 'waits'> | undefined> {
  const goal = pursuedGoal(scope.state());
  if (goal === undefined) return undefined;
  const read = readIntentSpec(specBytes);
  const checks = read.ok ? checksOf(read.effective).map(({ check }) => check) : [];
  const needed = new Set(checks.flatMap(({ id, required }) => (required === true ? [id] : [])));
  const lost = goal.criteria.filter(
    ({ checks }) => checks.length === 0 || !checks.every((id) => needed.has(id)),
  );
  if (lost.length > 0) return blockUnverifiable(scope, goal, 'the spec has no required check for', lost);
  const uncounted = withoutSuite(goal.criteria, checks, await runnerOf(scope));
  if (uncounted.length === 0) return undefined;
  const why = 'the test runner is known, and no check of kind testSuite verifies';
  return blockUnverifiable(scope, goal, why, uncounted);
}

async function blockUnverifiable(
  scope: TurnScope,
  goal: SessionGoal,
  why: string,
  criteria: readonly GoalCriterion[],
): Promise<Exclude<StepEnd, 'waits'>> {
  const named = criteria.map(({ id, text }) => `- ${id}: ${text}`).join('\n');
  await blockGoal(scope, goal, 'criterion_unverifiable', `${why}\n${named}`);
  return { end: 'done' };
}

async function runnerOf({ setting }: TurnScope): ReturnType<typeof knownRunner> {
  const { repo, baseRef } = await setting.target();
  const repository = await openRepository(setting.repositoryPath, { onlyReads: true });
  const { tree } = await resolveBase(repository, baseRef);
  return knownRunner(repository, tree, scopeRootOf(repo));
}
