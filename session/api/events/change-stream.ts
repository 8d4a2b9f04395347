import { toRfc3339 } from '../../../core/base/clock.ts';
import { createBroadcast } from '../../../http/broadcast.ts';
import { toFrame } from '../../../http/event-frame.ts';
import { toSnapshot } from '../../state/snapshot.ts';
import type { SessionState } from '../../state/state.ts';
import { type ChangeKind, changesBetween } from './changes-between.ts';
import { type EventStream, firstSeq, lastSeen } from './event-stream.ts';
import { rememberLast } from './remember-last.ts';
import { createReplayRing } from './replay-ring.ts';
import type { StreamParts } from './snapshot-stream.ts';

/** Why a reader has to begin with the snapshot that comes with it. */
type ResyncReason = 'opened' | 'id_unknown' | 'behind';

/**
 * Events `{cursor, eventId, kind, at, payload}`, each with what has changed and no more (resolutions, Events,
 * `?wire=2`). A `resync` holds the snapshot that the events behind its cursor go on from. Each change is told as it
 * comes, from the first reader on, whoever listens: only so there is something for one that comes back.
 */
export function openChangeStream({ channel, clock, streams = {} }: StreamParts): EventStream {
  let cursor = firstSeq();
  let told = channel.state;
  const { sessionId } = told.ground;
  const ring = createReplayRing(cursor);
  const frameOf = (
    of: number,
    kind: ChangeKind | 'resync',
    { updatedAtMs }: SessionState,
    payload: unknown,
  ): Uint8Array => {
    const at = toRfc3339(updatedAtMs);
    const event = { cursor: of, eventId: `${sessionId}.${of}`, kind, at, payload };
    return toFrame({ type: kind, id: of, data: JSON.stringify(event) });
  };
  // The same octets for all who need it at once: nothing in it is about one of them.
  const resync = rememberLast((state: SessionState, of: number, reason: ResyncReason) =>
    frameOf(of, 'resync', state, { reason, snapshot: toSnapshot(state) }),
  );
  const broadcast = createBroadcast({
    ...streams,
    clock,
    resyncFrame: (_missed, lastSeq) => resync(told, lastSeq, 'behind'),
  });
  const unsubscribe = channel.subscribe((state, facts) => {
    const changes = changesBetween(told, state, facts);
    told = state;
    for (const { kind, payload } of changes) {
      cursor += 1;
      const frame = frameOf(cursor, kind, state, payload);
      ring.add(cursor, () => frame)();
      broadcast.publish(cursor, frame);
    }
  });
  return {
    subscribe: (request, response) =>
      broadcast.add(response, () => {
        const last = lastSeen(request);
        const reason = request.headers['last-event-id'] === undefined ? 'opened' : 'id_unknown';
        return (last === undefined ? undefined : ring.after(last)) ?? [resync(told, cursor, reason)];
      }),
    end: (withinMs) => {
      unsubscribe();
      return broadcast.end(withinMs);
    },
  };
}
