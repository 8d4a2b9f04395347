import type { RunView } from '../../../core/contract/run-view.ts';
import type { GoalCriterion } from '../../state/goal.ts';

/**
 * What a run says of criteria: one is accepted where every check of it ran and passed in a run that was committed,
 * refuted where one of them failed, or did not run in a run that was. What a model claims is not looked at. Pure.
 */
export function judgeCriteria(
  criteria: readonly GoalCriterion[],
  { decision, stages }: Pick<RunView, 'decision' | 'stages'>,
): readonly GoalCriterion[] {
  const isCommit = decision?.type === 'commit';
  const results = new Map(stages.flatMap(({ checks }) => checks).map(({ id, status }) => [id, status]));
  return criteria.map((criterion) => {
    const found = criterion.checks.map((id) => results.get(id));
    const holds = found.length > 0 && found.every((status) => status === 'passed');
    if (isCommit) return { ...criterion, status: holds ? 'accepted' : 'refuted' };
    return { ...criterion, status: found.includes('failed') ? 'refuted' : 'open' };
  });
}

/** Whether each of them was verified. Of none nothing is said. */
export function areAccepted(criteria: readonly GoalCriterion[]): boolean {
  return criteria.length > 0 && criteria.every(({ status }) => status === 'accepted');
}
