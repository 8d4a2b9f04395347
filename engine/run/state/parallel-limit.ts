import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';

/**
 * How many checks run side by side: the lower of `concurrency.maxParallelTasks` and `[checks] max_parallel`; one at
 * high risk.
 */
export function parallelLimit(
  { risk, execution }: Pick<EffectiveIntentSpec, 'risk' | 'execution'>,
  maxParallel: number,
): number {
  return risk.level === 'high' ? 1 : Math.min(execution.concurrency.maxParallelTasks, maxParallel);
}
