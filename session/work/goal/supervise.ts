import type { ErrorCode } from '../../../core/base/error-codes.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { BlockReason } from '../../state/goal.ts';
import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import { blockGoal } from './block-goal.ts';
import { chargeWork } from './charge-work.ts';

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

/** Why stands below it, where the turn ends. */
const goesOn = '`/goal start` goes on with it, `/goal cancel` gives it up';

/** `undefined` for what has no name of its own: the turn's end tells it. */
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
