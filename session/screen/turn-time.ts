/* How long a turn works or waits. */
import type { Snapshot } from '../state/snapshot.ts';
import { nextAsked } from './asked.ts';

export interface TurnTime {
  /** The question that is waited for; absent while the turn works. */
  readonly asked: string | undefined;
  readonly sinceMs: number;
  readonly workedMs: number;
}

/** The time of the running turn; undefined if none runs. Time that a question waits does not count as work. */
export function turnTime(
  before: TurnTime | undefined,
  snapshot: Pick<Snapshot, 'status' | 'interactions'>,
  nowMs: number,
): TurnTime | undefined {
  if (!isBusy(snapshot)) return undefined;
  const asked = snapshot.status === 'awaiting_interaction' ? (nextAsked(snapshot)?.id ?? '') : undefined;
  if (before === undefined) return { asked, sinceMs: nowMs, workedMs: 0 };
  if (before.asked === asked) return before;
  const worked = before.asked === undefined ? nowMs - before.sinceMs : 0;
  return { asked, sinceMs: nowMs, workedMs: before.workedMs + worked };
}

export function secondsOf(time: TurnTime, nowMs: number): number {
  return time.asked === undefined ? workedSeconds(time, nowMs) : Math.floor((nowMs - time.sinceMs) / 1000);
}

export function workedSeconds({ asked, sinceMs, workedMs }: TurnTime, nowMs: number): number {
  return Math.floor((workedMs + (asked === undefined ? nowMs - sinceMs : 0)) / 1000);
}

export function isBusy({ status }: Pick<Snapshot, 'status'>): boolean {
  return status === 'thinking' || status === 'executing_tool' || status === 'awaiting_interaction';
}
