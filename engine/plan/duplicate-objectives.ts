import { quoted } from '../../core/base/quoted.ts';
import { maxPlanProblems, type PlanProblem, toPlanFault } from '../../core/contract/plan-problem.ts';

/** PLAN_DUPLICATE_OBJECTIVE, with every pair. */
export function requireDistinctObjectives(objectives: readonly string[]): void {
  const problems = duplicateObjectives(objectives);
  if (problems.length > 0) throw toPlanFault(problems);
}

/** Two objectives with the same words would be two Tasks that do the same thing. */
export function duplicateObjectives(objectives: readonly string[]): readonly PlanProblem[] {
  const known = new Map<string, number>();
  const problems: PlanProblem[] = [];
  for (const [index, objective] of objectives.entries()) {
    const words = objective.trim().replace(/\s+/g, ' ');
    const first = known.get(words);
    if (first === undefined) known.set(words, index);
    else if (problems.length < maxPlanProblems)
      problems.push({
        code: 'PLAN_DUPLICATE_OBJECTIVE',
        message: `objectives ${first} and ${index} (from 0) are the same: ${quoted(words)}`,
        detail: { objectives: [first, index], paths: [first, index].map((at) => `/intent/objectives/${at}`) },
      });
  }
  return problems;
}
