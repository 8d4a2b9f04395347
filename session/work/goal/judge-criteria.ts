import type { RunView } from '../../../core/contract/run-view.ts';
import type { CheckRecord } from '../../../core/contract/stage.ts';
import type { GoalCriterion } from '../../state/goal.ts';

/**
 * What a run says of criteria. In a committed run a criterion is accepted if each of its checks ran, passed, and did
 * not pass by rewriting a test that failed at the base. Otherwise it is refuted. In any other run it is refuted if one
 * of its checks failed. What a model claims is not read. Pure.
 */
export function judgeCriteria(
  criteria: readonly GoalCriterion[],
  { decision, stages }: Pick<RunView, 'decision' | 'stages'>,
): readonly GoalCriterion[] {
  const isCommit = decision?.type === 'commit';
  const checks = stages.flatMap((stage) => stage.checks);
  const results = new Map(
    checks.map((check) => [check.id, rewrittenRed(check).length > 0 ? 'rewritten' : check.status]),
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
 * `tests-kept`).
 */
export function rewrittenTests({ stages }: Pick<RunView, 'stages'>): readonly string[] {
  return [...new Set(stages.flatMap(({ checks }) => checks.flatMap(rewrittenRed)))];
}

function rewrittenRed({ findings }: Pick<CheckRecord, 'findings'>): readonly string[] {
  return findings.flatMap(({ detail }) =>
    detail?.redAtBase === true && Array.isArray(detail.tests) ? detail.tests.map(String) : [],
  );
}

/** Whether each of them was verified. Of none nothing is said. */
export function areAccepted(criteria: readonly GoalCriterion[]): boolean {
  return criteria.length > 0 && criteria.every(({ status }) => status === 'accepted');
}
