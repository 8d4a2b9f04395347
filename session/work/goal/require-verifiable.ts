import { checksOf } from '../../../engine/spec/checks-of.ts';
import { readIntentSpec } from '../../../engine/spec/read-intent-spec.ts';
import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { blockGoal } from './block-goal.ts';

/**
 * A draft may be edited by hand before it is confirmed: the goal that is pursued is blocked, and the turn ends, where a
 * check that verifies one of its criteria is gone from it, or need not pass any more. `undefined` where it may go on.
 */
export async function requireVerifiable(
  scope: TurnScope,
  specBytes: Uint8Array,
): Promise<Exclude<StepEnd, 'waits'> | undefined> {
  const goal = pursuedGoal(scope.state());
  if (goal === undefined) return undefined;
  const read = readIntentSpec(specBytes);
  const needed = new Set(
    read.ok
      ? checksOf(read.effective).flatMap(({ check: { id, required } }) => (required === true ? [id] : []))
      : [],
  );
  const lost = goal.criteria.filter(
    ({ checks }) => checks.length === 0 || !checks.every((id) => needed.has(id)),
  );
  if (lost.length === 0) return undefined;
  const named = lost.map(({ id, text }) => `- ${id}: ${text}`).join('\n');
  await blockGoal(scope, goal, 'criterion_unverifiable', `the contract has no required check for\n${named}`);
  return { end: 'done' };
}
