/** The event streams of a session: whole snapshots, or changes. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { createBroadcast, toFrame } from '../../http/broadcast.ts';
import type { Exchange } from '../../http/send-answer.ts';
import type { SessionChannel } from '../open-channel.ts';
import type { Happened } from '../state/fact.ts';
import { type Snapshot, toSnapshot } from '../state/snapshot.ts';
import type { SessionState } from '../state/state.ts';

/** The events of one session on one wire. */
interface EventStream {
  /** Writes the stream to the response. TOO_MANY_SUBSCRIBERS. */
  subscribe(request: IncomingMessage, response: ServerResponse): void;
  /** Delivers what is published, then ends every stream, by force after `withinMs`. */
  end(withinMs: number): Promise<void>;
}

/**
 * A number that events are counted from. Chance makes it: the number of an event of another process, or of the other
 * wire, is none of this stream, whatever the clock did in between.
 */
function firstSeq(): number {
  return randomOctets(6).readUIntBE(0, 6);
}

/**
 * Number of the last event that a reconnecting client has seen (`Last-Event-ID`). `undefined` if the header is absent
 * or not a number.
 */
function lastSeen({ headers }: IncomingMessage): number | undefined {
  const last = headers['last-event-id'];
  return typeof last === 'string' && /^[0-9]{1,15}$/.test(last) ? Number(last) : undefined;
}

/** Caches the last result of `make`, by identity of its arguments. */
function rememberLast<Args extends readonly unknown[], Made>(
  make: (...args: Args) => Made,
): (...args: Args) => Made {
  let last: { readonly args: Args; readonly made: Made } | undefined;
  return (...args) => {
    if (last === undefined || last.args.some((one, at) => one !== args[at]))
      last = { args, made: make(...args) };
    return last.made;
  };
}

/** The last events of a stream, for clients that reconnect with `Last-Event-ID`. */
interface ReplayRing {
  /** `make` is called at most once, when the frame is needed. */
  add(seq: number, make: () => Uint8Array): () => Uint8Array;
  /** The frames behind event `seq`; `undefined` where the ring does not hold all of them. */
  after(seq: number): readonly Uint8Array[] | undefined;
}

/** Limits of the buffer, and so of how far a reader may be behind. */
const ringLimits = { events: 256, bytes: 8 * 1024 * 1024 } as const;

interface Kept {
  readonly seq: number;
  /** What it is made of is let go of once it is made. */
  made: Uint8Array | (() => Uint8Array);
}

/** Creates an empty ring for a stream. `start` is the number of the stream's last event. */
function createReplayRing(start: number): ReplayRing {
  let kept: Kept[] = [];
  let last = start;
  const made = (one: Kept): Uint8Array => {
    if (typeof one.made === 'function') one.made = one.made();
    return one.made;
  };
  const trim = (): void => {
    let bytes = 0;
    const tooOld = kept.findLastIndex((one) => {
      bytes += typeof one.made === 'function' ? 0 : one.made.length;
      return bytes > ringLimits.bytes;
    });
    kept = kept.slice(Math.max(tooOld + 1, kept.length - ringLimits.events));
  };
  return {
    add: (seq, make) => {
      const one: Kept = { seq, made: make };
      kept.push(one);
      last = seq;
      trim();
      return () => made(one);
    },
    after: (seq) => {
      const from = kept.findIndex((one) => one.seq > seq);
      if (seq > last || seq < (kept[0]?.seq ?? last + 1) - 1) return undefined;
      if (from < 0) return [];
      const frames: Uint8Array[] = [];
      let bytes = 0;
      // From the newest on: however much there is, no more is made than may be sent.
      for (const one of kept.slice(from).reverse()) {
        frames.push(made(one));
        bytes += made(one).length;
        if (bytes > ringLimits.bytes) {
          trim();
          return undefined;
        }
      }
      return frames.reverse();
    },
  };
}

interface StreamParts {
  readonly channel: SessionChannel;
  readonly clock: Clock;
}

type EventType = 'session_updated' | 'status_changed' | 'controller_changed';

/**
 * Events `{seq, type, at, data}` with the whole snapshot. Changes of status and controller are sent at once, other
 * changes are coalesced. A snapshot is serialised at most once, and only if a reader needs it.
 */
function openSnapshotStream({ channel, clock }: StreamParts): EventStream {
  let seq = firstSeq();
  /** The state of the last event. */
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
    // Without readers, deltas stay coalesced until a reader connects or an urgent change comes.
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
        // Publishes the deltas that were coalesced while there was no reader.
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

/** Changes that every reader must see. A renewed lease is the same controller. */
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

/** At most 10 snapshots a second. */
const intervalMs = 100;
/** Urgent snapshots that may be sent at once. */
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

/** Format of the events: `1` whole snapshots, `2` changes. */
type Wire = '1' | '2';
const openers = { 1: openSnapshotStream, 2: openChangeStream } as const;

/** Timeout of the streams when their session ends. */
const endWithinMs = 1_000;

/**
 * Serves the event stream that `?wire` selects; the default is snapshots. Streams are created on first use and end
 * with their session. INVALID_QUERY_PARAM, CODE_UI_UNAVAILABLE.
 */
export function eventStreams(
  clock: Clock,
): (channel: SessionChannel, exchange: Pick<Exchange, 'request' | 'response' | 'query'>) => void {
  const open = {
    1: new WeakMap<SessionChannel, EventStream>(),
    2: new WeakMap<SessionChannel, EventStream>(),
  };
  return (channel, { request, response, query }) => {
    const wire = readWire(query);
    let stream = open[wire].get(channel);
    if (channel.closed.aborted) throw new WritError('CODE_UI_UNAVAILABLE');
    if (stream === undefined) {
      const opened = openers[wire]({ channel, clock });
      channel.closed.addEventListener('abort', () => void opened.end(endWithinMs), { once: true });
      open[wire].set(channel, opened);
      stream = opened;
    }
    stream.subscribe(request, response);
  };
}

function readWire(query: URLSearchParams): Wire {
  const [wire = '1', ...more] = query.getAll('wire');
  if (more.length === 0 && (wire === '1' || wire === '2')) return wire;
  const message = `expected \`wire\` to be 1 or 2, found \`${[wire, ...more].join(', ').slice(0, 100)}\``;
  throw new WritError('INVALID_QUERY_PARAM', { message });
}

/** Why a reader has to begin with the snapshot that comes with it. */
type ResyncReason = 'opened' | 'id_unknown' | 'behind';

/**
 * Events `{cursor, eventId, kind, at, payload}` with changes only. A `resync` event has the snapshot that later
 * events build on. Changes are recorded from the first reader on, so that a reader can reconnect.
 */
function openChangeStream({ channel, clock }: StreamParts): EventStream {
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
  // Cached bytes serve every client that needs them: they contain nothing specific to one client.
  const resync = rememberLast((state: SessionState, of: number, reason: ResyncReason) =>
    frameOf(of, 'resync', state, { reason, snapshot: toSnapshot(state) }),
  );
  const broadcast = createBroadcast({
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

/** One change on wire 2. */
interface Change {
  readonly kind: ChangeKind;
  readonly payload: Readonly<Record<string, unknown>>;
}

interface Element {
  readonly id: string;
}

type ListName = {
  [Name in keyof Snapshot]-?: Snapshot[Name] extends readonly Element[] ? Name : never;
}[keyof Snapshot];

/** Each list of the snapshot, and the kind of event that brings one of its elements. */
const kindOfList = {
  transcript: 'transcript_entry',
  plans: 'plan',
  tasks: 'task',
  toolCalls: 'tool_call',
  patchsets: 'patchset',
  interactions: 'interaction',
} as const satisfies Readonly<Record<ListName, string>>;
const lists = Object.keys(kindOfList) as readonly ListName[];

export type ChangeKind =
  | (typeof kindOfList)[ListName]
  | 'status_changed'
  | 'controller_changed'
  | 'session_changed'
  | 'text_delta'
  | 'element_removed'
  | 'member_removed';

/**
 * The changes that turn the snapshot of `before` into the snapshot of `after`. They are built from snapshots, so they
 * contain no token and no answer to a secret question.
 */
function changesBetween(
  before: SessionState,
  after: SessionState,
  facts: readonly Happened[],
): readonly Change[] {
  const delta = textDelta(before, facts);
  if (delta !== undefined) return [delta];
  // Unchanged elements are the same objects in both states; only the others are converted and compared.
  const gone = only(before, after);
  const come = only(after, before);
  const [old, now] = [toSnapshot({ ...before, ...gone }), toSnapshot({ ...after, ...come })];
  const { status, controller, updatedAt: _, ...rest } = now;
  const others = Object.entries(rest).filter(
    ([name, value]) => !Object.hasOwn(kindOfList, name) && !isDeepStrictEqual(value, memberOf(old, name)),
  );
  return [
    ...lists.flatMap((list) => removedFrom(list, gone[list], after[list])),
    ...lists.flatMap((list) => inList(list, old[list], now[list])),
    ...(others.length > 0 ? [{ kind: 'session_changed', payload: Object.fromEntries(others) } as const] : []),
    ...membersGone(old, now),
    ...(isDeepStrictEqual(old.controller, controller)
      ? []
      : [{ kind: 'controller_changed', payload: { controller } } as const]),
    ...(old.status === status ? [] : [{ kind: 'status_changed', payload: { status } } as const]),
  ];
}

/**
 * Text appended to a streaming reply. By far the most frequent event, and the only one that does not send its element
 * whole.
 */
function textDelta({ transcript }: SessionState, facts: readonly Happened[]): Change | undefined {
  const [fact, ...more] = facts;
  const last = transcript.at(-1);
  if (fact?.type !== 'replying' || fact.isAnew === true || more.length > 0) return undefined;
  if (last?.id !== fact.id || !last.streaming) return undefined;
  return { kind: 'text_delta', payload: { id: fact.id, text: fact.text } };
}

/** The lists of `state` without the elements that `other` has. */
function only(state: SessionState, other: SessionState): Pick<SessionState, ListName> {
  const left = <T>(some: readonly T[], others: readonly T[]): readonly T[] => {
    if (some === others) return [];
    const known = new Set(others);
    return some.filter((one) => !known.has(one));
  };
  return {
    transcript: left(state.transcript, other.transcript),
    plans: left(state.plans, other.plans),
    tasks: left(state.tasks, other.tasks),
    toolCalls: left(state.toolCalls, other.toolCalls),
    patchsets: left(state.patchsets, other.patchsets),
    interactions: left(state.interactions, other.interactions),
  };
}

function removedFrom(
  list: ListName,
  before: readonly Element[],
  after: readonly Element[],
): readonly Change[] {
  const left = new Set(after.map(({ id }) => id));
  return before
    .filter(({ id }) => !left.has(id))
    .map(({ id }): Change => ({ kind: 'element_removed', payload: { list, id } }));
}

/** Optional members that the new snapshot no longer has. Other events cannot express a removal. */
function membersGone(old: Snapshot, now: Snapshot): readonly Change[] {
  return Object.keys(old)
    .filter((name) => !Object.hasOwn(now, name))
    .map((member): Change => ({ kind: 'member_removed', payload: { member } }));
}

function inList(list: ListName, before: readonly Element[], after: readonly Element[]): readonly Change[] {
  const known = new Map(before.map((one) => [one.id, one]));
  return after
    .filter((one) => !isDeepStrictEqual(one, known.get(one.id)))
    .map((one): Change => ({ kind: kindOfList[list], payload: { ...one } }));
}

function memberOf(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
