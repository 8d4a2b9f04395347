import type { Plan, Seen } from '../seen.ts';
import { pendingIn } from '../seen.ts';

/**
 * What a plan is now. A session that rests works on none: what was running was stopped, or waits for people. And one
 * that nobody is asked about any more was not executed.
 */
export function planStatus(
  seen: Pick<Seen, 'status' | 'interactions' | 'outcome'>,
  { id, status }: Plan,
): string {
  const { outcome } = seen;
  if (status === 'running' && /^(?:idle|error)$/.test(seen.status))
    return outcome?.decision === 'waiting' && id.startsWith(`${outcome.runId}/`) ? 'waits' : 'stopped';
  if (status !== 'proposed') return status;
  const asked = seen.interactions.filter(({ metadata }) => metadata.planId === id);
  return asked.length > 0 && pendingIn({ interactions: asked }).length === 0 ? 'not executed' : status;
}
