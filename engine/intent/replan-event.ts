import type { ReplanTrigger } from '../../core/contract/intentspec.gen.ts';
import type { NewIntentEvent } from './append-intent-events.ts';

export interface Replan {
  /** The Scheduler's actor id. */
  readonly by: string;
  readonly trigger: ReplanTrigger;
  /** What set it off; may be untrusted text of a check. */
  readonly description: string;
  /** What the new revision of the plan changes. */
  readonly diffSummary: string;
  readonly run?: string;
  readonly nowMs: number;
}

/**
 * The event of one replan; read back, it is one `changeLog` entry, within the contract's lengths. Same replan, same
 * event.
 */
export function replanEvent({ by, trigger, description, diffSummary, run, nowMs }: Replan): NewIntentEvent {
  return {
    kind: 'replanned',
    by: { kind: 'system', id: by },
    reason: bounded(description === '' ? trigger : `${trigger}: ${description}`, 2000),
    diff_summary: bounded(diffSummary === '' ? `a new plan after ${trigger}` : diffSummary, 4000),
    ...(run === undefined ? {} : { run }),
    nowMs,
  };
}

/** At most `max` characters as the schema counts them, without NUL, which no object may hold. */
function bounded(text: string, max: number): string {
  const points = [...text.toWellFormed().replaceAll('\0', '\uFFFD')];
  return points.length <= max ? points.join('') : `${points.slice(0, max - 1).join('')}…`;
}
