/* Starts and stops the service of a repository. */
import { basename, join } from 'node:path';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import type { RepositoryPlace } from '../core/interfaces/store.ts';
import { startLoopbackServer } from '../http/loopback-server.ts';
import {
  type Discovery,
  formatDiscovery,
  ignoreDirectory,
  makeToken,
  openPrivateDirectory,
  removeDrafts,
  removeOwnFile,
  writePrivateFile,
} from '../http/private-files.ts';
import { keepFiles } from '../store/sql.ts';
import { openDirtyMarks } from './dirty-marks.ts';
import { acquireServiceLock, type ServicePlace } from './find-service.ts';
import { openMarkEnvironment } from './mark-walk.ts';
import { openBus, serviceRoutes } from './routes.ts';

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
        message: `\`${path}\` was removed or replaced under the running service`,
        detail: { path },
        hints: ['start it again: `writ service run`'],
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
