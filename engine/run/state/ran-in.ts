import type { Attempt } from './attempt.ts';

/** The attempt as its record tells of it: its checks ran in this back end, whatever the run was started with. */
export function ranIn(attempt: Attempt, sandboxName: string): Attempt {
  return { ...attempt, identity: { ...attempt.identity, sandboxName } };
}
