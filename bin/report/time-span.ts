import type { CheckRecord } from '../../core/contract/stage.ts';

/** From the first start to the last end, milliseconds; `lengthMs` is at least 1. */
export interface TimeSpan {
  readonly startMs: number;
  readonly lengthMs: number;
}

/** When these checks ran on the wall clock; parallel ones overlap. Unreadable times are left out. */
export function toTimeSpan(checks: readonly Pick<CheckRecord, 'startedAt' | 'durationMs'>[]): TimeSpan {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const check of checks) {
    const at = Date.parse(check.startedAt);
    if (!Number.isFinite(at)) continue;
    start = Math.min(start, at);
    end = Math.max(end, at + check.durationMs);
  }
  return { startMs: start, lengthMs: Math.max(1, end - start) };
}
