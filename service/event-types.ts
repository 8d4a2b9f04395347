/** What a run of the engine tells (resolutions C): published by writ itself, each with `run_id`. */
export const runEventTypes = ['run_started', 'stage_settled', 'decision_made', 'approval_needed'] as const;
export type RunEventType = (typeof runEventTypes)[number];

/** Types that only writ publishes; no notification may carry one. */
export const builtInTypes = ['dirty_marked', 'service_lifecycle', 'resync', ...runEventTypes] as const;
export type BuiltInType = (typeof builtInTypes)[number];

export function isBuiltIn(type: string): type is BuiltInType {
  return (builtInTypes as readonly string[]).includes(type);
}

export function isRunEvent(type: string): type is RunEventType {
  return (runEventTypes as readonly string[]).includes(type);
}
