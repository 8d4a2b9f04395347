import { type Clock, toRfc3339 } from '../../../core/base/clock.ts';
import { type BroadcastSettings, createBroadcast } from '../../../http/broadcast.ts';
import { toFrame } from '../../../http/event-log.ts';
import type { SessionChannel } from '../../channel/open-channel.ts';
import { toSnapshot } from '../../state/snapshot.ts';
import type { SessionState } from '../../state/state.ts';
import { type EventStream, firstSeq, lastSeen } from './event-stream.ts';
import { rememberLast } from './remember-last.ts';
import { createReplayRing } from './replay-ring.ts';

export interface StreamParts {
  readonly channel: SessionChannel;
  readonly clock: Clock;
  readonly streams?: Partial<BroadcastSettings>;
}

type EventType = 'session_updated' | 'status_changed' | 'controller_changed';

/**
 * Events `{seq, type, at, data}`, each with the whole snapshot (document 2, Events): changes of status and controller,
 * and what else changes taken together. A snapshot becomes text once, and never where nobody wants it.
 */
export function openSnapshotStream({ channel, clock, streams = {} }: StreamParts): EventStream {
  let seq = firstSeq();
  /** What the last event told. */
  let told = channel.state;
  let timer: AbortController | undefined;
  const pace = createPace(clock);
  const ring = createReplayRing(seq);
  const textOf = rememberLast((state: SessionState) => JSON.stringify(toSnapshot(state)));
  const frameOf = (of: number, type: EventType, state: SessionState): Uint8Array => {
    const at = toRfc3339(state.updatedAtMs);
    const data = `{"seq":${of},"type":"${type}","at":"${at}","data":${textOf(state)}}`;
    return toFrame({ type, id: of, data });
  };
  const fresh = rememberLast((state: SessionState, of: number) => frameOf(of, 'session_updated', state));
  const newest = rememberLast((state: SessionState, of: number) => frameOf(of, 'session_updated', state));
  const broadcast = createBroadcast({
    ...streams,
    clock,
    // All that was published is lost: the number is that of the last event.
    resyncFrame: (_missed, lastSeq) => newest(told, lastSeq),
  });

  const tell = (): void => {
    timer?.abort();
    timer = undefined;
    const { state } = channel;
    const types = urgentTypes(told, state);
    told = state;
    pace.spend();
    for (const type of types.length > 0 ? types : (['session_updated'] as const)) {
      seq += 1;
      const of = seq;
      const frame = ring.add(of, () => frameOf(of, type, state));
      if (broadcast.size > 0) broadcast.publish(of, frame());
    }
  };
  const tellInTime = (): void => {
    const { state } = channel;
    if (state === told) return;
    const isUrgent = urgentTypes(told, state).length > 0;
    // For nobody, deltas stay together until somebody comes, or something happens that is told by itself.
    if (!isUrgent && broadcast.size === 0) return;
    const waitMs = pace.waitMs(isUrgent);
    if (waitMs <= 0) tell();
    else if (timer === undefined) tellAfter(waitMs);
  };
  const tellAfter = (waitMs: number): void => {
    const waiting = new AbortController();
    timer = waiting;
    clock.sleep(waitMs, waiting.signal).then(
      () => {
        timer = undefined;
        tellInTime();
      },
      () => undefined,
    );
  };
  const unsubscribe = channel.subscribe(tellInTime);
  return {
    subscribe: (request, response) =>
      broadcast.add(response, () => {
        // Nobody was there to be told of the last deltas.
        if (broadcast.size === 0 && channel.state !== told) tell();
        const last = lastSeen(request);
        const missed = last === undefined ? undefined : ring.after(last);
        return missed ?? [fresh(channel.state, seq)];
      }),
    end: (withinMs) => {
      unsubscribe();
      if (channel.state !== told && broadcast.size > 0) tell();
      timer?.abort();
      return broadcast.end(withinMs);
    },
  };
}

/** What nobody may miss. A lease that goes on is the same controller. */
function urgentTypes(before: SessionState, after: SessionState): readonly EventType[] {
  const isSameController = before.lease?.tokenDigest === after.lease?.tokenDigest;
  return [
    ...(isSameController ? [] : (['controller_changed'] as const)),
    ...(before.status === after.status ? [] : (['status_changed'] as const)),
  ];
}

/** How often snapshots may go out. */
interface Pace {
  /** Milliseconds until the next one may: 0 is now. `urgent` ones wait for no delta. */
  waitMs(urgent: boolean): number;
  /** One goes out. */
  spend(): void;
}

/** At most 10 snapshots a second (resolutions, Events) … */
const intervalMs = 100;
/** … and so many at once that nobody may miss. */
const burst = 20;

/**
 * Deltas are an interval apart. A change of status or controller goes out at once as long as the burst lasts, which
 * comes back at the same rate: whatever happens, none waits for longer than an interval.
 */
function createPace(clock: Pick<Clock, 'monotonic'>): Pace {
  let spentAt = Number.NEGATIVE_INFINITY;
  let left: number = burst;
  let countedAt = clock.monotonic();
  const count = (): number => {
    const now = clock.monotonic();
    left = Math.min(burst, left + (now - countedAt) / intervalMs);
    countedAt = now;
    return now;
  };
  return {
    waitMs: (urgent) => {
      const now = count();
      const forBurst = left >= 1 ? 0 : (1 - left) * intervalMs;
      return urgent ? forBurst : Math.max(forBurst, spentAt + intervalMs - now, 0);
    },
    spend: () => {
      spentAt = count();
      left = Math.max(0, left - 1);
    },
  };
}
