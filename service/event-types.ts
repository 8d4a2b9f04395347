import { unseen } from '../core/base/unseen.ts';

/** What a run of the engine tells (resolutions C): published by writ itself, each with `run_id`. */
const runEventTypes = ['run_started', 'stage_settled', 'decision_made', 'approval_needed'] as const;
export type RunEventType = (typeof runEventTypes)[number];

/** Types that only writ publishes; no notification may carry one, see `isReserved`. */
export const builtInTypes = ['dirty_marked', 'service_lifecycle', 'resync', ...runEventTypes] as const;

/** Whether a type differs from one of writ's own at most by case, blanks, unseen characters and forms of letters. */
export function isReserved(type: string): boolean {
  const seen = type.normalize('NFKC').replaceAll(unseen, '').replaceAll(' ', '').toLowerCase();
  return (builtInTypes as readonly string[]).includes(seen);
}

export function isRunEvent(type: string): type is RunEventType {
  return (runEventTypes as readonly string[]).includes(type);
}
