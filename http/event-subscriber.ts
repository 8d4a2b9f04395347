import type { Socket } from 'node:net';
import type { Clock } from '../core/base/clock.ts';
import { commentFrame } from './event-frame.ts';
import type { EventLog, StreamPosition } from './event-log.ts';

/** How long and how far a subscriber may stay behind. */
export interface LagLimits {
  /** Events that may wait for one subscriber while its socket takes nothing. */
  readonly maxQueuedEvents: number;
  readonly maxQueuedBytes: number;
  /** How long a subscriber may take for what had been published before its socket was full: a burst is no lag. */
  readonly burstPatienceMs: number;
  /** How long a socket may stay full before its connection is ended. */
  readonly maxStallMs: number;
  /** The event that tells of `missed` lost ones, the last of which was number `lastSeq`. */
  readonly resyncFrame: (missed: number, lastSeq: number) => Uint8Array;
  readonly clock: Clock;
}

/**
 * One open stream. It is *full* while its socket holds octets that the system has not taken, and *lagging* once it has
 * lost an event.
 */
export interface EventSubscriber {
  readonly socket: Socket;
  /** How many slices it needs no more: all, for one that lags. */
  readonly taken: number;
  /** At the end of the log, and all of it with the system. */
  readonly hasAll: boolean;
  /**
   * Writes the next slice where there is one and the socket is not full; true where one more could be written at once.
   */
  deliver(): boolean;
  /** Makes a full one that is too far behind a lagging one. */
  judge(): void;
  /**
   * It loses what it has not taken of the log, and what comes, until its socket has drained; then it gets the one
   * resync.
   */
  lag(): void;
  /** A comment to one that has all; the end of one that was full for too long. */
  keepAlive(): void;
}

/** What a socket holds that is full. */
interface Held {
  readonly sinceMs: number;
  readonly events: number;
  /** What had been published by then. */
  readonly published: StreamPosition;
}

const nothing = new Uint8Array();

/** A subscriber from the end of `log` on. `drained` is called when its socket is no longer full. */
export function createEventSubscriber(
  socket: Socket,
  log: EventLog,
  limits: LagLimits,
  drained: () => void,
): EventSubscriber {
  const { clock, maxQueuedEvents, maxQueuedBytes, burstPatienceMs, maxStallMs, resyncFrame } = limits;
  let at = log.end;
  let lagging = false;
  let held: Held | undefined;

  const write = (bytes: Uint8Array, events: number): void => {
    socket.write(bytes);
    if (socket.writableLength === 0) return;
    held = { sinceMs: clock.monotonic(), events, published: log.end };
    // Called back after all that was written before it; `drain` is not emitted for less than the high-water mark.
    socket.write(nothing, (fault) => {
      if (fault) return;
      held = undefined;
      if (lagging) resync();
      drained();
    });
  };
  const resync = (): void => {
    // What is said instead of the lost ones is about all that is published, and nothing of that comes behind it.
    log.seal();
    const missed = log.end.events - at.events;
    lagging = false;
    at = log.end;
    write(resyncFrame(missed, log.lastSeq), 1);
  };
  const lag = (): void => {
    lagging = true;
    if (held === undefined) resync();
  };
  return {
    socket,
    get taken() {
      return lagging ? log.end.slices : at.slices;
    },
    get hasAll() {
      return held === undefined && at.slices === log.end.slices;
    },
    deliver: () => {
      if (held !== undefined || !socket.writable) return false;
      const slice = log.after(at);
      if (slice === undefined) return false;
      at = slice.end;
      write(slice.bytes, slice.events);
      return held === undefined && at.slices < log.end.slices;
    },
    judge: () => {
      if (held === undefined || lagging) return;
      const patient = clock.monotonic() - held.sinceMs < burstPatienceMs;
      const from = patient ? held.published : at;
      // One event is delivered whatever its size: to lag is to lose something.
      if (from.slices === log.end.slices) return;
      const events = held.events + log.end.events - from.events;
      const bytes = socket.writableLength + log.end.bytes - from.bytes;
      if (events > maxQueuedEvents || bytes > maxQueuedBytes) lag();
    },
    lag,
    keepAlive: () => {
      if (held !== undefined) {
        if (clock.monotonic() - held.sinceMs > maxStallMs) socket.destroy();
      } else if (at.slices === log.end.slices) write(commentFrame, 0);
    },
  };
}
