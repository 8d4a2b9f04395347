import type { Snapshot } from '../../state/snapshot.ts';
import { nextAsked } from '../question/asked.ts';
import { isBusy } from './is-busy.ts';

/** How long a turn works, or waits for the answer to one question. */
export interface TurnTime {
  /** The question that is waited for; absent while the turn works. */
  readonly asked: string | undefined;
  readonly sinceMs: number;
  /** How long it had worked by then, without what it has waited. */
  readonly workedMs: number;
}

/** The time of the turn that runs, `undefined` where none does. What a person takes to answer is no work of it. */
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

/** Seconds that its question waits for; where it waits for none, that it works. */
export function secondsOf(time: TurnTime, nowMs: number): number {
  return time.asked === undefined ? workedSeconds(time, nowMs) : Math.floor((nowMs - time.sinceMs) / 1000);
}

/** Seconds that it has worked, without what it has waited. */
export function workedSeconds({ asked, sinceMs, workedMs }: TurnTime, nowMs: number): number {
  return Math.floor((workedMs + (asked === undefined ? nowMs - sinceMs : 0)) / 1000);
}
