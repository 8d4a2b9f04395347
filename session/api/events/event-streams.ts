import { isDeepStrictEqual } from 'node:util';
import { type Clock, toRfc3339 } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { type BroadcastSettings, createBroadcast } from '../../../http/broadcast.ts';
import { toFrame } from '../../../http/event-log.ts';
import type { Exchange } from '../../../http/send-answer.ts';
import type { SessionChannel } from '../../channel/open-channel.ts';
import type { Happened } from '../../state/fact.ts';
import { type Snapshot, toSnapshot } from '../../state/snapshot.ts';
import type { SessionState } from '../../state/state.ts';
import { type EventStream, firstSeq, lastSeen } from './event-stream.ts';
import { rememberLast } from './remember-last.ts';
import { createReplayRing } from './replay-ring.ts';
import { openSnapshotStream, type StreamParts } from './snapshot-stream.ts';

/** Which events a reader asks for: whole snapshots, or changes. */
type Wire = '1' | '2';
const openers = { 1: openSnapshotStream, 2: openChangeStream } as const;

/** What streams have to take in when their session is over. */
const endWithinMs = 1_000;

/**
 * Answers with the event stream that `?wire` names, the snapshots where it names none. The streams of a session are
 * made when they are first asked for, and end with it. INVALID_QUERY_PARAM, CODE_UI_UNAVAILABLE.
 */
export function eventStreams(
  clock: Clock,
  streams: Partial<BroadcastSettings> = {},
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
      const opened = openers[wire]({ channel, clock, streams });
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
 * Events `{cursor, eventId, kind, at, payload}`, each with what has changed and no more (resolutions, Events,
 * `?wire=2`). A `resync` holds the snapshot that the events behind its cursor go on from. Each change is told as it
 * comes, from the first reader on, whoever listens: only so there is something for one that comes back.
 */
function openChangeStream({ channel, clock, streams = {} }: StreamParts): EventStream {
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

/** One thing that has changed, as it is told on the second wire. */
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
 * What makes the snapshot after a change of the one before it: whoever applies these has the same. Made of snapshots,
 * so nothing is told here that a snapshot does not tell: no token, no answer to a secret question.
 */
function changesBetween(
  before: SessionState,
  after: SessionState,
  facts: readonly Happened[],
): readonly Change[] {
  const delta = textDelta(before, facts);
  if (delta !== undefined) return [delta];
  const { removed, narrow } = narrowed(before, after);
  const [old, now] = [toSnapshot({ ...before, ...narrow.before }), toSnapshot({ ...after, ...narrow.after })];
  const { status, controller, updatedAt: _, ...rest } = now;
  const others = Object.entries(rest).filter(
    ([name, value]) => !Object.hasOwn(kindOfList, name) && !isDeepStrictEqual(value, memberOf(old, name)),
  );
  return [
    ...removed,
    ...lists.flatMap((name) => [
      ...(Object.hasOwn(narrow.after, name) ? [] : removedFrom(name, old[name], now[name])),
      ...inList(name, old[name], now[name]),
    ]),
    ...(others.length > 0 ? [{ kind: 'session_changed', payload: Object.fromEntries(others) } as const] : []),
    ...membersGone(old, now),
    ...(isDeepStrictEqual(old.controller, controller)
      ? []
      : [{ kind: 'controller_changed', payload: { controller } } as const]),
    ...(old.status === status ? [] : [{ kind: 'status_changed', payload: { status } } as const]),
  ];
}

/** A reply that goes on: by far the most of all events, and the only one that is no element whole. */
function textDelta({ transcript }: SessionState, facts: readonly Happened[]): Change | undefined {
  const [fact, ...more] = facts;
  const last = transcript.at(-1);
  if (fact?.type !== 'replying' || fact.isAnew === true || more.length > 0) return undefined;
  if (last?.id !== fact.id || !last.streaming) return undefined;
  return { kind: 'text_delta', payload: { id: fact.id, text: fact.text } };
}

type Narrow = Readonly<Record<string, readonly Element[]>>;

/**
 * Both states with those elements only that are not the same in both: what a change leaves alone is the same object, so
 * hundreds of elements are not made text of to find the one that changed.
 */
function narrowed(
  before: SessionState,
  after: SessionState,
): {
  readonly removed: readonly Change[];
  readonly narrow: { readonly before: Narrow; readonly after: Narrow };
} {
  const removed: Change[] = [];
  const narrow: { before: Record<string, readonly Element[]>; after: Record<string, readonly Element[]> } = {
    before: {},
    after: {},
  };
  for (const list of lists) {
    const [old, now] = [elementsOf(before, list), elementsOf(after, list)];
    if (old === undefined || now === undefined) continue;
    const [gone, come] = old === now ? [[], []] : [without(old, now), without(now, old)];
    narrow.before[list] = gone;
    narrow.after[list] = come;
    if (gone.length > 0) removed.push(...removedFrom(list, gone, now));
  }
  return { removed, narrow };
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

/** Members that are there only where there is something to say, and are gone: what is put in place never says so. */
function membersGone(old: Snapshot, now: Snapshot): readonly Change[] {
  return Object.keys(old)
    .filter((name) => !Object.hasOwn(now, name))
    .map((member): Change => ({ kind: 'member_removed', payload: { member } }));
}

function without(some: readonly Element[], others: readonly Element[]): readonly Element[] {
  const known = new Set(others);
  return some.filter((one) => !known.has(one));
}

/** The list of that name, where the state has it under the name that the snapshot gives it. */
function elementsOf(state: SessionState, list: ListName): readonly Element[] | undefined {
  const found = memberOf(state, list);
  return Array.isArray(found) ? (found as readonly Element[]) : undefined;
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
