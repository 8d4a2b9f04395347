/* The notification bus of the local service. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { createBroadcast, toFrame } from '../http/broadcast.ts';

/** The notification bus: sends events `{seq, type, at, data}` to the current subscribers, at most once. */
export interface Bus {
  /** Gives the event its `seq`, from 1 and one more each time, and answers with it. */
  publish(type: string, data: Readonly<Record<string, unknown>>): number;
  /** Publishes an event before there can be subscribers: it is kept for the first one. */
  announce(type: string, data: Readonly<Record<string, unknown>>): void;
  /** Turns the response into an event stream. */
  subscribe(request: IncomingMessage, response: ServerResponse): void;
  readonly subscribers: number;
  /** Delivers what is published, then ends every stream, by force after `withinMs`. */
  end(withinMs: number): Promise<void>;
}

/** A bus without subscribers. */
export function openBus({ clock }: { readonly clock: Clock }): Bus {
  let seq = 0;
  let kept: readonly Uint8Array[] = [];
  const frameOf = (of: number, type: string, data: Readonly<Record<string, unknown>>): Uint8Array =>
    toFrame({ type, id: of, data: JSON.stringify({ seq: of, type, at: toRfc3339(clock.now()), data }) });
  const resyncFrame = (missed: number, lastSeq: number): Uint8Array => frameOf(lastSeq, 'resync', { missed });
  const broadcast = createBroadcast({ clock, resyncFrame });

  return {
    announce(type, data) {
      seq += 1;
      kept = [...kept, frameOf(seq, type, data)];
    },
    publish(type, data) {
      seq += 1;
      // Without subscribers no frame is built: that of a large batch costs as much as reading the batch.
      if (broadcast.size > 0) broadcast.publish(seq, frameOf(seq, type, data));
      return seq;
    },
    subscribe(request, response) {
      // A HEAD request does not call this, so it cannot consume the kept events.
      broadcast.add(response, () => {
        const first = [...kept, ...resumed(request)];
        kept = [];
        return first;
      });
    },
    get subscribers() {
      return broadcast.size;
    },
    end: (withinMs) => broadcast.end(withinMs),
  };

  /**
   * A client that reconnects sends its last event id. Events are not replayed, so it gets a resync event and must
   * reload.
   */
  function resumed({ headers }: IncomingMessage): readonly Uint8Array[] {
    const last = headers['last-event-id'];
    if (typeof last !== 'string' || !/^[0-9]{1,15}$/.test(last) || Number(last) === seq) return [];
    // A higher one is from before a restart: all of this run was missed.
    const missed = (Number(last) < seq ? seq - Number(last) : seq) - kept.length;
    return missed > 0 ? [resyncFrame(missed, seq)] : [];
  }
}
