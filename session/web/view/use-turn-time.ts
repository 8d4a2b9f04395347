import { useEffect, useRef, useState } from 'preact/hooks';
import { nextAsked } from '../../screen/question/asked.ts';
import { toSpan } from '../../screen/words/to-span.ts';
import { secondsOf, type TurnTime, turnTime, workedSeconds } from '../../screen/words/turn-time.ts';
import { now } from '../page/now.ts';
import type { Seen } from '../seen.ts';

/**
 * How long the turn works, or its question waits, second by second; of one that is over how long it has worked, as far
 * as this page saw it. Empty where it saw none.
 */
export function useTurnTime(
  seen: Pick<Seen, 'status' | 'interactions' | 'transcript'>,
  isLive: boolean,
): string {
  const time = useRef<TurnTime | undefined>(undefined);
  const worked = useRef('');
  const [, redraw] = useState(0);
  const before = time.current;
  if (isLive) {
    time.current = turnTime(before, seen, before === undefined ? beganMs(seen) : now());
    if (before !== undefined && time.current === undefined)
      worked.current = `worked ${toSpan(1000 * workedSeconds(before, now()))}`;
  }
  const runs = time.current !== undefined;
  useEffect(() => {
    if (!runs || !isLive) return;
    const timer = setInterval(() => redraw((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [runs, isLive]);
  return time.current === undefined ? worked.current : toSpan(1000 * secondsOf(time.current, now()));
}

/** Since when a turn that the page has not seen begin works, or waits. */
function beganMs(seen: Pick<Seen, 'status' | 'interactions' | 'transcript'>): number {
  const at =
    seen.status === 'awaiting_interaction'
      ? nextAsked(seen)?.requestedAt
      : seen.transcript.findLast(({ kind }) => kind === 'user_message')?.createdAt;
  const ms = Date.parse(at ?? '');
  return Number.isNaN(ms) ? now() : Math.min(ms, now());
}
