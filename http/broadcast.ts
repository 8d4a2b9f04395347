/* Sends events to many clients as event streams. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import { answerHeaders } from './send-answer.ts';

export interface BroadcastSettings extends Partial<Omit<LagLimits, 'resyncFrame'>> {
  readonly resyncFrame: LagLimits['resyncFrame'];
  readonly maxSubscribers?: number;
  /** Events that come within this of one another go out together; the first after a pause does not wait. */
  readonly windowMs?: number;
  readonly keepAliveMs?: number;
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

/** Events of one window, in one buffer that all subscribers share. */
interface Slice {
  readonly bytes: Uint8Array;
  readonly events: number;
}

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
  /** Events that are in no slice yet. */
  let open: Uint8Array[] = [];
  let openBytes = 0;
  let lastSeq = 0;
  /** End of the last turn: with many subscribers a turn is longer than the window. */
  let turnedAt = Number.NEGATIVE_INFINITY;
  /** The next turn is in this round of the event loop. */
  let isSoon = false;
  let window: NodeJS.Timeout | undefined;
  let keepAlive: NodeJS.Timeout | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let ended: PromiseWithResolvers<void> | undefined;

  /** Makes the open events a slice. */
  const seal = (): void => {
    clearTimeout(window);
    window = undefined;
    const [only] = open;
    if (only === undefined) return;
    const bytes = open.length === 1 ? only : Buffer.concat(open, openBytes);
    const slice: Slice = { bytes, events: open.length };
    open = [];
    openBytes = 0;
    for (const one of subscribers) one.enqueue(slice);
  };
  /** Sends one slice to every subscriber with a free socket. `window`: the events in it stay open. */
  const turn = (): void => {
    if (window === undefined) seal();
    let more = false;
    for (const one of subscribers) {
      more = one.deliver() || more;
      if (ended !== undefined && one.hasAll) one.socket.destroySoon();
    }
    turnedAt = clock.monotonic();
    if (more) turnSoon();
  };
  const turnSoon = (): void => {
    if (isSoon) return;
    isSoon = true;
    setImmediate(() => {
      isSoon = false;
      turn();
    });
  };
  const sealNow = (): void => {
    seal();
    turnSoon();
  };
  const remove = (subscriber: EventSubscriber): void => {
    subscribers.delete(subscriber);
    if (subscribers.size > 0) return;
    clearInterval(keepAlive);
    keepAlive = undefined;
    seal();
    clearTimeout(deadline);
    ended?.resolve();
  };
  /** The number of the last event. Every event before it is in a slice: none may follow a resync event. */
  const sealedSeq = (): number => {
    seal();
    return lastSeq;
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
        if (open.length > 0) sealNow();
        const subscriber = createEventSubscriber(socket, limits, sealedSeq, turnSoon);
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
      open.push(frame);
      openBytes += frame.length;
      lastSeq = seq;
      if (open.length >= sliceEvents || openBytes >= maxSliceBytes) sealNow();
      else if (open.length === 1) {
        const waitMs = turnedAt + limits.windowMs - clock.monotonic();
        if (waitMs <= 0) turnSoon();
        else
          window = setTimeout(() => {
            seal();
            turn();
          }, waitMs);
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
  /** Octets that may wait for one subscriber in any case. All wait for the same slices, so it bounds those of all. */
  readonly maxHeldBytes: number;
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
 * has lost an event: it then gets nothing until its socket has drained, and one resync event for all that it lost.
 */
interface EventSubscriber {
  readonly socket: Socket;
  /** Nothing waits for it, and all of what was sent is with the system. */
  readonly hasAll: boolean;
  enqueue(slice: Slice): void;
  /** Writes the next slice, unless the socket is full. True if one more could be written at once. */
  deliver(): boolean;
  /** Sends a comment if nothing waits; ends a connection that was full for too long. */
  keepAlive(): void;
}

const nothing = new Uint8Array();
/** A comment, not an event. It keeps a connection alive. */
const commentFrame: Uint8Array = Buffer.from(':\n\n');

/** `drained` is called when the socket is no longer full. */
function createEventSubscriber(
  socket: Socket,
  {
    clock,
    maxQueuedEvents,
    maxQueuedBytes,
    maxHeldBytes,
    burstPatienceMs,
    maxStallMs,
    resyncFrame,
  }: LagLimits,
  sealedSeq: () => number,
  drained: () => void,
): EventSubscriber {
  let queue: Slice[] = [];
  let missed = 0;
  /** What a full socket holds. `later`: how many slices of the queue were published since. */
  let full: { readonly sinceMs: number; readonly events: number; later: number } | undefined;

  const write = ({ bytes, events }: Slice): void => {
    socket.write(bytes);
    if (socket.writableLength === 0) return;
    full = { sinceMs: clock.monotonic(), events, later: 0 };
    // Called back after all that was written before it; `drain` is not emitted for less than the high-water mark.
    socket.write(nothing, (fault) => {
      if (fault) return;
      full = undefined;
      if (missed > 0) resync();
      drained();
    });
  };
  const resync = (): void => {
    const seq = sealedSeq();
    const bytes = resyncFrame(missed, seq);
    missed = 0;
    write({ bytes, events: 1 });
  };
  const lag = (): void => {
    for (const { events } of queue) missed += events;
    queue = [];
    if (full === undefined) resync();
  };
  const deliver = (): boolean => {
    if (full !== undefined) lagIfBehind(full);
    const [slice] = full === undefined && socket.writable ? queue.splice(0, 1) : [];
    if (slice !== undefined) write(slice);
    return full === undefined && queue.length > 0;
  };
  /** One event is delivered whatever its size: to lag is to lose something. */
  const lagIfBehind = ({ sinceMs, events: sent, later }: NonNullable<typeof full>): void => {
    const isPatient = clock.monotonic() - sinceMs < burstPatienceMs;
    const waiting = isPatient ? queue.slice(queue.length - later) : queue;
    if (waiting.length === 0) return;
    const events = waiting.reduce((sum, one) => sum + one.events, sent);
    if (events > maxQueuedEvents || socket.writableLength + sizeOf(waiting) > maxQueuedBytes) lag();
  };
  return {
    socket,
    get hasAll() {
      return full === undefined && queue.length === 0;
    },
    deliver,
    enqueue(slice) {
      if (missed > 0) {
        missed += slice.events;
        return;
      }
      queue.push(slice);
      if (full !== undefined) full.later += 1;
      if (sizeOf(queue) <= maxHeldBytes) return;
      deliver();
      if (sizeOf(queue) > maxHeldBytes) lag();
    },
    keepAlive() {
      if (full !== undefined) {
        if (clock.monotonic() - full.sinceMs > maxStallMs) socket.destroy();
      } else if (queue.length === 0) write({ bytes: commentFrame, events: 0 });
    },
  };
}

function sizeOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, { bytes }) => sum + bytes.length, 0);
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

/** One event, ready to be sent. */
interface FrameParts {
  /** Any text; what could end a line becomes U+FFFD, so that no name can be mistaken for another one. */
  readonly type: string;
  readonly id: number;
  /** JSON text; what could end a line in it is escaped, which leaves its value as it is. */
  readonly data: string;
}

/**
 * Formats an event for the WHATWG event stream, as bytes. No character in `type` or `data` can end its line. That
 * also holds for a client that splits at U+0085, U+2028 or a control character, not only at the standard's CR and LF.
 */
export function toFrame({ type, id, data }: FrameParts): Buffer {
  return Buffer.from(
    `event: ${type.replace(lineEnders, '\uFFFD')}\nid: ${id}\ndata: ${data.replace(jsonLineEnders, escaped)}\n\n`,
  );
}

const lineEnders = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g;
/** JSON has CR and LF only between its tokens, and the others only within strings. */
const jsonLineEnders = /[\r\n\u0085\u2028\u2029]/g;

function escaped(char: string): string {
  return char === '\r' || char === '\n' ? ' ' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
