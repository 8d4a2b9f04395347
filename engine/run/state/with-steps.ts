import type { OpenRun } from './attempt.ts';
import type { Steps } from './steps.ts';

/** The same run, or attempt, whose steps are these. */
export function withSteps<T extends OpenRun>(run: T, steps: Steps): T {
  return { ...run, means: { ...run.means, steps } };
}
