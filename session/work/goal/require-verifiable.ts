import { knownRunner } from '../../../engine/draft/draft-intent.ts';
import { withoutSuite } from '../../../engine/intent/draft/held-criteria.ts';
import { scopeRootOf } from '../../../engine/plan/scope.ts';
import { checksOf } from '../../../spec/checks-of.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { resolveBase } from '../../../workspace/git/resolve-commit.ts';
import type { GoalCriterion, SessionGoal } from '../../state/goal.ts';
import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { blockGoal } from './block-goal.ts';

/**
 * A draft may be edited by hand before it is confirmed. If a check that verifies one of the goal's criteria is gone, is
 * not required any more, or leaves the criterion without a `testSuite` although the test runner is known, the goal is
 * blocked and the turn ends. `undefined` if the turn may go on.
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
  if (lost.length > 0) return stop(scope, goal, 'the contract has no required check for', lost);
  const uncounted = withoutSuite(goal.criteria, checks, await runnerOf(scope));
  if (uncounted.length === 0) return undefined;
  const why = 'the test runner is known, and no check of kind testSuite verifies';
  return stop(scope, goal, why, uncounted);
}

async function stop(
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
