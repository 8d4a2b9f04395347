import type { WritConfig } from '../../config/config.ts';

/**
 * What every sandbox of a run may hold (`[checks] max_memory_mb`): checks, the commands of `prepare`, rules of others.
 */
export function maxMemoryBytes({ checks }: Pick<WritConfig, 'checks'>): number {
  return checks.maxMemoryMb * 1_048_576;
}
