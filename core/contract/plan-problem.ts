import { WritError } from '../base/errors.ts';

/** Why there is no plan. A value: only who needs the plan makes a fault of it. */
export interface PlanProblem {
  readonly code: 'PLAN_INVALID' | 'PLAN_CYCLE' | 'PLAN_CONFLICT' | 'PLAN_DUPLICATE_OBJECTIVE';
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Problems beyond these are counted, not listed. */
export const maxPlanProblems = 100;

/** The fault that the first problem stands for, with all of them in `detail.problems`. */
export function toPlanFault(problems: readonly PlanProblem[]): WritError {
  const [first] = problems;
  if (first === undefined) return new WritError('INTERNAL', { message: 'a plan failed without a problem' });
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new WritError(first.code, {
    message: `${first.message}${more}`,
    detail: { ...first.detail, problems: problems.slice(0, maxPlanProblems) },
  });
}
