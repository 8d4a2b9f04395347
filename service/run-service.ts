/* Starts and stops the service of a repository. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import { printable } from '../core/base/printable.ts';
import { anything, count, list, mapOf, object, text, where } from '../core/base/schema.ts';
import type { RepositoryPlace } from '../core/interfaces/store.ts';
import { createBroadcast, toFrame } from '../http/broadcast.ts';
import { valuesOf } from '../http/guard-request.ts';
import { startLoopbackServer } from '../http/loopback-server.ts';
import {
  type Discovery,
  formatDiscovery,
  ignoreDirectory,
  makeToken,
  matchesToken,
  openPrivateDirectory,
  removeDrafts,
  removeOwnFile,
  writePrivateFile,
} from '../http/private-files.ts';
import { type Body, bodyReader } from '../http/read-json-body.ts';
import type { Route } from '../http/send-answer.ts';
import { keepFiles } from '../store/sql.ts';
import { type DirtyMark, type DirtyMarks, openDirtyMarks } from './dirty-marks.ts';
import { acquireServiceLock, type ServicePlace } from './find-service.ts';
import { type MarkEnvironment, MarkWalk, namesOf, openMarkEnvironment, type Place } from './mark-walk.ts';
import { isReserved, isRunEvent } from './run-publisher.ts';

export interface RunningService {
  readonly discovery: Discovery;
  /** Resolves when lock or database were removed: new marks would be lost, and another instance may start. */
  readonly lost: Promise<WritError>;
  /** Notifies the subscribers, ends their streams, removes the published files and releases the lock. Runs once. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly repository: RepositoryPlace;
  readonly place: ServicePlace;
  /** A literal loopback address. */
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** Receives internal faults, which the client does not see. */
  readonly report: (fault: unknown) => void;
  /** For a request's headers, and for its body, to come whole. */
  readonly headersWithinMs?: number;
  readonly bodyWithinMs?: number;
}

/** Limit in octets of the body of a request. */
const maxBodyBytes = 256 * 1024;
const defaultWithinMs = 10_000;
const maxDepth = 64;
/** For an instance that is ending, or a list of the marks. */
const lockWaitMs = 3_000;
/** Together under the second within which open streams have to end. */
const streamsEndWithinMs = 400;
/** Interval of the check that the files still exist. */
const watchMs = 2_000;
const answersEndWithinMs = 400;

/**
 * Starts the one service of a repository. Each step needs those before it, and is undone in reverse, whether a later
 * one fails or the service stops: lock, marks, token, server, discovery file, copies for the other work trees.
 * SERVICE_ALREADY_RUNNING, PORT_UNAVAILABLE, PRIVATE_FILE_UNSAFE.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { repository, place, host, port, clock, report } = options;
  const { headersWithinMs = defaultWithinMs, bodyWithinMs = defaultWithinMs } = options;
  const undo: (() => Promise<void> | void)[] = [];
  const unwind = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop())
      await Promise.resolve().then(step).catch(report);
  };
  try {
    await openPrivateDirectory(place.root, place.segments);
    const lock = await acquireServiceLock(place, lockWaitMs);
    undo.push(() => lock.release());
    await removeDrafts(place.directory);
    await ignoreDirectory(place.directory);
    const marks = await openDirtyMarks(place.database, clock);
    undo.push(() => marks.close());
    const { lost, unwatch } = watchFiles([place.lock, place.database]);
    undo.push(unwatch);
    const token = makeToken();
    undo.push(() => removeOwnFile(place.token, token));
    await writePrivateFile(place.token, token);
    const engineToken = makeToken();
    undo.push(() => removeOwnFile(place.engineToken, engineToken));
    await writePrivateFile(place.engineToken, engineToken);
    const bus = openBus({ clock });
    const ground = await openMarkEnvironment(repository);
    const parts = { token, engineToken, bus, marks, ground };
    const body = { maxBytes: maxBodyBytes, withinMs: bodyWithinMs, maxDepth };
    const routes = serviceRoutes(parts);
    const server = await startLoopbackServer({ host, port, body, headersWithinMs, report, routes });
    undo.push(() => server.close(answersEndWithinMs));
    bus.announce('service_lifecycle', { event: 'started', base_url: server.baseUrl });
    undo.push(() => {
      bus.publish('service_lifecycle', { event: 'stopping' });
      return bus.end(streamsEndWithinMs);
    });
    const discovery = describe(options, server.baseUrl);
    const published = formatDiscovery(discovery);
    undo.push(() => removeOwnFile(place.discovery, published));
    await writePrivateFile(place.discovery, published);
    const copies = [
      [basename(place.token), token],
      [basename(place.discovery), published],
    ] as const;
    const others = [...ground.trees().roots].filter((root) => root !== place.root);
    undo.push(await publishFiles(others, repository.root, copies));
    return { discovery, lost, stop: unwind };
  } catch (fault) {
    await unwind();
    throw fault;
  }
}

function watchFiles(paths: readonly string[]): {
  readonly lost: Promise<WritError>;
  readonly unwatch: () => void;
} {
  const findLost = keepFiles(paths);
  const { promise: lost, resolve } = Promise.withResolvers<WritError>();
  const timer = setInterval(() => {
    const path = findLost();
    if (path === undefined) return;
    clearInterval(timer);
    resolve(
      new WritError('STATE_UNUSABLE', {
        message: `\`${path}\` was removed or replaced while the service ran`,
        detail: { path },
        hints: ['start the service again: `writ service run`'],
      }),
    );
  }, watchMs).unref();
  return { lost, unwatch: () => clearInterval(timer) };
}

function describe({ repository, clock }: ServiceOptions, baseUrl: string): Discovery {
  return {
    version: 1,
    mode: 'service',
    pid: process.pid,
    baseUrl,
    workingDir: repository.root,
    startedAt: toRfc3339(clock.now()),
  };
}

/** Where a script looks for the service, below the root of its current work tree. */
const segments = ['.writ', 'service'] as const;

/**
 * Writes copies of the published files below every root, and returns a function that removes them. A root that cannot
 * be written is skipped, unless it is `own`: then throws PRIVATE_FILE_UNSAFE. Files of a killed service are replaced;
 * its drafts are removed. The caller holds the service's lock.
 */
async function publishFiles(
  roots: Iterable<string>,
  own: string,
  files: readonly (readonly [name: string, text: string])[],
): Promise<() => Promise<void>> {
  const undo: (() => Promise<void>)[] = [];
  const withdraw = async (): Promise<void> => {
    await Promise.all(undo.splice(0).map((step) => step()));
  };
  for (const root of roots) {
    try {
      const directory = await openPrivateDirectory(root, segments);
      await removeDrafts(directory);
      await ignoreDirectory(directory);
      for (const [name, text] of files) {
        const path = join(directory, name);
        undo.push(() => removeOwnFile(path, text));
        await writePrivateFile(path, text);
      }
    } catch (fault) {
      if (root !== own) continue;
      await withdraw();
      throw fault;
    }
  }
  return withdraw;
}

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

/** What the routes answer from. */
interface ServiceParts {
  readonly token: string;
  /** Of runs of the engine alone: no client is given it, so that none can publish an event in their name. */
  readonly engineToken: string;
  readonly bus: Bus;
  readonly marks: DirtyMarks;
  readonly ground: MarkEnvironment;
}

/** Most marks in one answer. */
const maxPage = 10_000;

/** Every endpoint of the service for other programs, and the three that writ itself uses. */
function serviceRoutes({ token, engineToken, bus, marks, ground }: ServiceParts): readonly Route[] {
  const admit = (request: IncomingMessage): void => requireToken(request, token);
  const admitEngine = (request: IncomingMessage): void => requireToken(request, engineToken);
  const publishing = (
    path: string,
    read: (body: Body) => Notification,
    admitted: (request: IncomingMessage) => void = admit,
  ): Route => ({
    method: 'POST',
    path,
    admit: admitted,
    answer: async ({ readBody }) => {
      const { type, data } = read(await readBody());
      return { published: true, seq: bus.publish(type, data) };
    },
  });
  return [
    { method: 'GET', path: '/api/health', answer: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/api/service/events',
      admit,
      answer: ({ request, response }) => bus.subscribe(request, response),
    },
    {
      method: 'POST',
      path: '/api/service/dirty/mark',
      admit,
      answer: async ({ readBody }) => {
        const marked = await toMarks(ground, readPaths(await readBody()).paths);
        marks.mark(marked);
        bus.publish('dirty_marked', { paths: marked });
        return { marked };
      },
    },
    publishing('/api/service/notify', readNotification),
    publishing('/api/service/publish', readRunEvent, admitEngine),
    {
      method: 'GET',
      path: '/api/service/dirty',
      admit,
      answer: ({ query }) => {
        const after = readAfter(query);
        return { marks: marks.list({ after, limit: maxPage }).map(toData), count: marks.count() };
      },
    },
    {
      method: 'POST',
      path: '/api/service/dirty/clear',
      admit,
      answer: async ({ readBody }) => {
        const cleared = marks.clear(readLimit(await readBody()).limit ?? maxPage).map(toData);
        return { cleared, count: marks.count() };
      },
    },
  ];
}

function requireToken(request: IncomingMessage, token: string): void {
  const [given, ...more] = valuesOf(request, 'x-svc-service-token');
  if (given === undefined || given === '') throw new WritError('MISSING_SERVICE_TOKEN');
  if (more.length > 0 || !matchesToken(given, token)) throw new WritError('INVALID_SERVICE_TOKEN');
}

function toData({ path, markedAt }: DirtyMark): { readonly path: string; readonly marked_at: string } {
  return { path, marked_at: toRfc3339(markedAt) };
}

/** Why a path cannot be a mark: empty, a NUL in it, not valid UTF-8 (a lone surrogate), or not in this repository. */
type MarkRefusal = 'empty' | 'nul' | 'not-utf8' | 'outside';

const says: Readonly<Record<MarkRefusal, string>> = {
  empty: 'is empty',
  nul: 'holds a NUL character',
  'not-utf8': 'holds half a character and cannot be the name of a file',
  outside: 'does not lie in the repository',
};

/**
 * Limit for all marks of a batch, in UTF-8. A link can turn a name of four characters into one of four thousand, and
 * a listener accepts events of at most 4 MiB.
 */
const maxMarkBytes = 2 * 1024 * 1024;
const maxShown = 200;
/** After so many, other work of the process has its turn. A single path can have 131,000 names. */
const pathsPerTurn = 256;
const namesPerTurn = 1024;

/**
 * Converts a batch of paths to marks: sorted by code units, unique, POSIX, relative to their work tree (`.` for its
 * root). Parents are resolved as on disk; the last name is not followed.
 *
 * One path outside the repository refuses all: PATH_ESCAPES_REPOSITORY with `index` and `reason`. Throws
 * PAYLOAD_TOO_LARGE if links expand the batch beyond 2 MiB. Opens and writes no files.
 */
export async function toMarks(ground: MarkEnvironment, paths: readonly string[]): Promise<readonly string[]> {
  const walk = new MarkWalk(ground);
  const parents = new Map<string, Place | undefined>();
  const marks = new Set<string>();
  let bytes = 0;
  for (const [index, path] of paths.entries()) {
    if (index % pathsPerTurn === pathsPerTurn - 1) await setImmediate();
    const unfit = unfitness(path);
    if (unfit !== undefined) throw escapes(index, path, unfit);
    const { before, last } = cutLast(path);
    if (!parents.has(before)) parents.set(before, await parentAt(walk, before));
    const parent = parents.get(before);
    const mark = parent && (last === undefined ? parent.mark : walk.markOf(parent, last));
    if (mark === undefined || leavesOnWindows(mark)) throw escapes(index, path, 'outside');
    if (!marks.has(mark)) bytes += Buffer.byteLength(mark);
    if (bytes > maxMarkBytes) throw tooLarge();
    marks.add(mark === '' ? '.' : mark);
  }
  return [...marks].sort();
}

function unfitness(path: string): MarkRefusal | undefined {
  if (path === '') return 'empty';
  if (path.includes('\0')) return 'nul';
  return path.isWellFormed() ? undefined : 'not-utf8';
}

/**
 * Splits a path into its last name and the part before it. Slashes and `.` after a name are ignored. If the path ends
 * in `..`, there is no name.
 */
function cutLast(path: string): { readonly before: string; readonly last: string | undefined } {
  let end = path.length;
  for (;;) {
    const slash = path.lastIndexOf('/', end - 1);
    const name = path.slice(slash + 1, end);
    if (name !== '' && name !== '.')
      return name === '..'
        ? { before: path, last: undefined }
        : { before: path.slice(0, slash + 1), last: name };
    if (slash <= 0) return { before: path, last: undefined };
    end = slash;
  }
}

/**
 * Returns the parent directory, or `undefined` if a `..` leaves the repository on the way. A path that returns is
 * still refused, because it was outside.
 */
async function parentAt(walk: MarkWalk, path: string): Promise<Place | undefined> {
  let at = path.startsWith('/') ? walk.top : walk.root;
  let entered = at.mark !== undefined;
  for (const [index, name] of namesOf(path).entries()) {
    if (index % namesPerTurn === namesPerTurn - 1) await setImmediate();
    at = walk.step(at, name);
    if (entered && name === '..' && at.mark === undefined) return undefined;
    entered ||= at.mark !== undefined;
  }
  return at;
}

/** True where the mark would lead out if `\` parted names as on Windows: a drive, a share, a root, a `..` too many. */
function leavesOnWindows(mark: string): boolean {
  if (/^(?:\\|[A-Za-z]:(?:[\\/]|$))/.test(mark)) return true;
  if (!mark.includes('\\')) return false;
  let depth = 0;
  for (const name of mark.split(/[\\/]/)) {
    if (name === '..') depth -= 1;
    else if (name !== '' && name !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function tooLarge(): WritError {
  return new WritError('PAYLOAD_TOO_LARGE', {
    message: `expected marks of together at most ${maxMarkBytes} octets once links are followed; send the batch in parts`,
    detail: { maxBytes: maxMarkBytes },
  });
}

function escapes(index: number, path: string, reason: MarkRefusal): WritError {
  const shown = printable(path.slice(0, maxShown).toWellFormed());
  const cut = path.length > maxShown && !shown.endsWith('…') ? '…' : '';
  return new WritError('PATH_ESCAPES_REPOSITORY', {
    message: `path ${index} of the batch, \`${shown}${cut}\`, ${says[reason]}`,
    detail: { index, reason },
  });
}

const maxTypeCharacters = 128;

/** What is to be published. */
interface Notification {
  readonly type: string;
  readonly data: Body;
}

/** The body as a whole is bounded. */
const unbounded = text(Number.MAX_SAFE_INTEGER, 0);

/** `{paths}`; does not check whether each path is in the repository. */
const readPaths = bodyReader(
  object('a body', {
    paths: where(
      list(unbounded, 1_000_000),
      'to be a list of at least one string',
      (paths) => paths.length > 0,
    ),
  }),
);

const eventBody = object('an event', {
  type: where(
    unbounded,
    `to be 1 to ${maxTypeCharacters} characters, not blank, without control characters`,
    (type) => type.trim() !== '' && !/[\0-\x1f\x7f-\x9f]/.test(type) && [...type].length <= maxTypeCharacters,
  ),
  data: mapOf('`data` to be an object', anything),
});
const readEvent = bodyReader(eventBody);

/** `{type, data}` of a caller; INVALID_BODY, RESERVED_TYPE for what only the service itself publishes. */
function readNotification(body: Body): Notification {
  const notification = readEvent(body);
  if (isReserved(notification.type))
    throw new WritError('RESERVED_TYPE', {
      message: `\`${notification.type}\` is one of the service’s own event types`,
      detail: { type: notification.type },
    });
  return notification;
}

/** `{type, data}` of a run of the engine: one of its four types, and `run_id` in the data; INVALID_BODY. */
const readRunEvent = bodyReader(
  where(
    where(eventBody, '`type` to be one that a run publishes', ({ type }) => isRunEvent(type)),
    '`data.run_id`',
    ({ data: { run_id } }) => typeof run_id === 'string' && run_id !== '',
  ),
);

const readLimit = bodyReader(object('a body', {}, { limit: count(1, maxPage) }));

/** The path behind which a list begins, `''` where the query names none; INVALID_REQUEST for what no mark can be. */
function readAfter(query: URLSearchParams): string {
  const after = query.get('after') ?? '';
  if (!after.includes('\0')) return after;
  throw new WritError('INVALID_REQUEST', { message: 'expected `after` to be a path, found a NUL character' });
}
