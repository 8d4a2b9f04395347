import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import { commentFrame, createEventLog, type EventLog, type StreamPosition } from './event-log.ts';
import { answerHeaders } from './send-answer.ts';

export interface BroadcastSettings extends Partial<Omit<LagLimits, 'resyncFrame'>> {
  readonly resyncFrame: LagLimits['resyncFrame'];
  readonly maxSubscribers?: number;
  /** Events that come within this of one another go out together; the first after a pause does not wait. */
  readonly windowMs?: number;
  readonly keepAliveMs?: number;
  /** Of what is published and not with every subscriber yet; beyond, those who are furthest behind lag. */
  readonly maxHeldBytes?: number;
}

/** One stream of events to many clients. */
export interface Broadcast {
  /** Open streams. */
  readonly size: number;
  /**
   * Turns an authorised response into a stream: `first`, then every event published from then on. `first` is called
   * when the stream opens: a pipelined request waits for the response to the one before it. Throws
   * TOO_MANY_SUBSCRIBERS if there are `maxSubscribers`; no bytes have been sent then. After `end` the connection is
   * closed at once.
   */
  add(response: EventResponse, first?: () => readonly Uint8Array[]): void;
  /** Sends one event to every subscriber, as a whole frame that must not change afterwards. Numbers increase. */
  publish(seq: number, frame: Uint8Array): void;
  /**
   * Sends what is published and ends every stream. After `withinMs`, closes the connections of clients that have not
   * received it. Resolves when all are closed.
   */
  end(withinMs: number): Promise<void>;
}

const defaults = {
  maxSubscribers: 4096,
  maxQueuedEvents: 256,
  maxQueuedBytes: 8 * 1024 * 1024,
  maxHeldBytes: 64 * 1024 * 1024,
  windowMs: 5,
  keepAliveMs: 15_000,
  burstPatienceMs: 5_000,
  maxStallMs: 5 * 60_000,
  clock: systemClock,
} as const;

const maxSliceEvents = 128;
const maxSliceBytes = 256 * 1024;

/**
 * Sends each event to every subscriber, in order, at most once. The system call is the main cost: events of one
 * window share one buffer and one write per subscriber.
 *
 * A client that reads gets every event, bursts included: one slice is sent per turn of the event loop, and sockets
 * drain in between. A client that does not read loses events beyond the queue's limits. It gets one resync event for
 * them when its socket has drained. No other client waits for it.
 */
export function createBroadcast(settings: BroadcastSettings): Broadcast {
  const limits = { ...defaults, ...settings };
  const clock: Clock = limits.clock;
  const sliceEvents = Math.min(maxSliceEvents, limits.maxQueuedEvents);
  const subscribers = new Set<EventSubscriber>();
  const log = createEventLog();
  /** End of the last turn: with many subscribers a turn is longer than the window. */
  let turnedAt = Number.NEGATIVE_INFINITY;
  /** The next turn, if it is due in this round of the event loop. `sealsThen`: whether it includes the open events. */
  let soon: NodeJS.Immediate | undefined;
  let sealsThen = false;
  let window: NodeJS.Timeout | undefined;
  let keepAlive: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let ended: PromiseWithResolvers<void> | undefined;

  const seal = (): void => {
    clearTimeout(window);
    window = undefined;
    sealsThen = false;
    log.seal();
  };
  /** Sends one slice to every subscriber with a free socket. */
  const turn = (): void => {
    if (sealsThen) seal();
    let more = false;
    let oldest = log.end.slices;
    for (const one of subscribers) {
      more = one.deliver() || more;
      one.judge();
      oldest = Math.min(oldest, one.taken);
      if (ended !== undefined && one.hasAll) one.socket.destroySoon();
    }
    log.trim(oldest);
    turnedAt = clock.monotonic();
    if (more) turnSoon();
  };
  const turnSoon = (): void => {
    if (soon !== undefined) return;
    soon = setImmediate(() => {
      soon = undefined;
      turn();
    });
  };
  /** Subscribers that still need the oldest slice start to lag, until the held bytes fit the limit. */
  const shrink = (): void => {
    turn();
    while (log.heldBytes > limits.maxHeldBytes) {
      const oldest = Math.min(...[...subscribers].map((one) => one.taken));
      for (const one of subscribers) if (one.taken === oldest) one.lag();
      log.trim(Math.min(...[...subscribers].map((one) => one.taken)));
    }
  };
  const remove = (subscriber: EventSubscriber): void => {
    subscribers.delete(subscriber);
    if (subscribers.size > 0) return;
    clearInterval(keepAlive);
    keepAlive = undefined;
    seal();
    log.trim(log.end.slices);
    clearTimeout(deadline);
    ended?.resolve();
  };

  return {
    get size() {
      return subscribers.size;
    },
    add: (response, first = () => []) => {
      if (ended !== undefined) {
        response.destroy();
        return;
      }
      if (subscribers.size >= limits.maxSubscribers) {
        throw new WritError('TOO_MANY_SUBSCRIBERS', { detail: { maxSubscribers: limits.maxSubscribers } });
      }
      openEventStream(response, first, (socket) => {
        if (ended !== undefined) {
          socket.destroy();
          return;
        }
        // What was published before is not for this one.
        if (log.openEvents > 0) {
          seal();
          turnSoon();
        }
        const subscriber = createEventSubscriber(socket, log, limits, turnSoon);
        subscribers.add(subscriber);
        socket.on('error', () => {});
        socket.on('close', () => remove(subscriber));
        keepAlive ??= setInterval(() => {
          turn();
          for (const one of subscribers) one.keepAlive();
        }, limits.keepAliveMs).unref();
      });
    },
    publish: (seq, frame) => {
      if (ended !== undefined || subscribers.size === 0) return;
      log.append(seq, frame);
      if (log.openEvents >= sliceEvents || log.openBytes >= maxSliceBytes) {
        seal();
        turnSoon();
        if (log.heldBytes > limits.maxHeldBytes) shrink();
      } else if (log.openEvents === 1) {
        const waitMs = turnedAt + limits.windowMs - clock.monotonic();
        if (waitMs <= 0) {
          sealsThen = true;
          turnSoon();
        } else {
          window = setTimeout(() => {
            seal();
            turn();
          }, waitMs);
        }
      }
    },
    end: (withinMs) => {
      if (ended !== undefined) return ended.promise;
      ended = Promise.withResolvers();
      seal();
      turn();
      if (subscribers.size === 0) ended.resolve();
      else {
        deadline = setTimeout(() => {
          for (const one of subscribers) one.socket.destroy();
        }, withinMs);
      }
      return ended.promise;
    },
  };
}

/** How long and how far a subscriber may stay behind. */
interface LagLimits {
  /** Events that may wait for one subscriber while its socket is full. */
  readonly maxQueuedEvents: number;
  readonly maxQueuedBytes: number;
  /** How long a subscriber may need for events published before its socket was full. A burst does not count as lag. */
  readonly burstPatienceMs: number;
  /** How long a socket may stay full before its connection is ended. */
  readonly maxStallMs: number;
  /** Builds the event that reports `missed` lost events, the last of which had number `lastSeq`. */
  readonly resyncFrame: (missed: number, lastSeq: number) => Uint8Array;
  readonly clock: Clock;
}

/**
 * One open stream. It is *full* while its socket holds octets that the system has not accepted, and *lagging* once it
 * has lost an event.
 */
interface EventSubscriber {
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
   * Drops the events of the log that it has not sent, and new ones, until its socket has drained. Then it sends one
   * resync event.
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

/** Creates a subscriber that starts at the end of `log`. `drained` is called when its socket is no longer full. */
function createEventSubscriber(
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
    // The resync event covers all published events, so none of them may follow it.
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

/** A response with no bytes sent yet. */
type EventResponse = ServerResponse;

/** Octets that a client may send after its request; they are thrown away. */
const maxFurtherBytes = 64 * 1024;
const openComment = Buffer.from(': open\n\n');

/**
 * Turns a response into an event stream. Headers, a comment and `first` are sent at once. `opened` gets the socket;
 * frames are written to it directly (without chunks: every chunk costs one more system call).
 *
 * Further input of the client is not read as a request. More than 64 KiB of it, or a half-closed connection, ends the
 * connection.
 *
 * A HEAD request gets a response, but `first` and `opened` are not called. If the client is gone, `opened` is not
 * called either.
 */
function openEventStream(
  response: EventResponse,
  first: () => readonly Uint8Array[],
  opened: (socket: Socket) => void,
): void {
  const open = (socket: Socket): void => {
    const frames = response.req.method === 'HEAD' ? [] : first();
    // Without this node would answer in chunks, which a client of HTTP/1.0 could not read either.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, {
      ...answerHeaders,
      'content-type': 'text/event-stream',
      connection: 'close',
    });
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    // One system call, and no copy: a stream's first frame may be large, and the same for many.
    response.cork();
    response.write(openComment);
    for (const frame of frames) response.write(frame);
    response.uncork();
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    socket.setTimeout(0);
    discardInput(socket);
    opened(socket);
  };
  // A request that was sent ahead of the answer to an earlier one gets its socket after that.
  if (response.socket !== null) open(response.socket);
  else
    response.once('socket', (socket) => {
      try {
        open(socket);
      } catch {
        // No caller can handle the error here; the client reconnects.
        socket.destroy();
      }
    });
}

function discardInput(socket: Socket): void {
  let further = 0;
  socket.removeAllListeners('data');
  // The data listener also detaches node's parser, which otherwise reads from the handle below the stream.
  socket.on('data', (part: Buffer) => {
    further += part.length;
    if (further > maxFurtherBytes) socket.destroy();
  });
  socket.on('end', () => socket.destroy());
  socket.resume();
}
