import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';

/** How many checks run side by side: the lower of `concurrency.maxParallelTasks` and `[checks] max_parallel`. */
export function parallelLimit(
  { execution }: Pick<EffectiveIntentSpec, 'execution'>,
  maxParallel: number,
): number {
  return Math.min(execution.concurrency.maxParallelTasks, maxParallel);
}
