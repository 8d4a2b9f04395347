/* Where the service of a repository is, its lock, its state, and access to it. */
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWritError, WritError } from '../core/base/errors.ts';
import { type HttpAnswer, requestHttp } from '../core/base/net.ts';
import type { RepositoryPlace } from '../core/interfaces/store.ts';
import { type Discovery, parseDiscovery, readPrivateFile } from '../http/private-files.ts';
import { readRepositorySettings } from '../store/stores.ts';
import {
  acquireProcessLock,
  isProcessLockHeld,
  type ProcessLock,
} from '../workspace/process/process-lock.ts';

/** State of a repository's service, found without a request to it. `stale`: it was killed and its files remain. */
type FoundService =
  | { readonly state: 'running' | 'stale'; readonly discovery: Discovery }
  | { readonly state: 'stopped' };

const probeMs = 2_000;
const maxAnswerBytes = 64 * 1024 * 1024;

/** Reads lock and discovery file. PRIVATE_FILE_UNSAFE where one of them cannot be trusted. */
export async function findService(place: ServicePlace): Promise<FoundService> {
  const text = await readPrivateFile(place.discovery);
  if (text === undefined) return { state: 'stopped' };
  const discovery = parseDiscovery(text, place.discovery);
  await readPrivateFile(place.lock);
  // Another process that holds it now (it lists the marks, or is starting) does not answer at the address of a dead
  // one.
  const isHeld = await isProcessLockHeld(place.lock, discovery.pid);
  return { state: isHeld ? 'running' : 'stale', discovery };
}

/** Whether the instance answers its health probe within two seconds. */
async function isHealthy({ baseUrl }: Discovery): Promise<boolean> {
  try {
    const url = `${baseUrl}/api/health`;
    const { status, body } = await requestHttp({ url, method: 'GET', withinMs: probeMs, maxBytes: 1024 });
    return status === 200 && (JSON.parse(body.toString('utf8')) as { status?: unknown }).status === 'ok';
  } catch {
    return false;
  }
}

/** A running instance and the credentials to call it. */
export interface ServiceAccess {
  readonly discovery: Discovery;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws what the service refused with; NETWORK_FAILED where it does not answer. */
  ask(question: ServiceQuestion): Promise<Readonly<Record<string, unknown>>>;
}

interface ServiceQuestion {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly withinMs: number;
  /**
   * The request comes from a run of the engine and uses the engine's token. Throws SERVICE_NOT_RUNNING if there is
   * none.
   */
  readonly isOfEngine?: true;
}

/**
 * The running instance of this repository, with its token; SERVICE_NOT_RUNNING. The token goes only to the address that
 * the process that holds the lock published, and that is a literal loopback address.
 */
export async function accessService(place: ServicePlace): Promise<ServiceAccess> {
  const found = await findService(place);
  const token = found.state === 'running' ? await readPrivateFile(place.token) : undefined;
  if (found.state !== 'running' || token === undefined)
    throw new WritError('SERVICE_NOT_RUNNING', {
      detail: { state: found.state, directory: place.directory },
    });
  const { discovery } = found;
  const headers = { 'x-svc-service-token': token };
  return {
    discovery,
    headers,
    async ask({ method, path, body, withinMs, isOfEngine }) {
      const shown = isOfEngine ? await engineHeaders(place) : headers;
      const answer = await requestHttp({
        url: `${discovery.baseUrl}${path}`,
        method,
        headers: body === undefined ? shown : { ...shown, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        withinMs,
        maxBytes: maxAnswerBytes,
      });
      return readAnswer(answer, path);
    },
  };
}

async function engineHeaders({ engineToken, directory }: ServicePlace): Promise<ServiceAccess['headers']> {
  const token = await readPrivateFile(engineToken);
  if (token !== undefined) return { 'x-svc-service-token': token };
  throw new WritError('SERVICE_NOT_RUNNING', { detail: { directory } });
}

function readAnswer({ status, body }: HttpAnswer, path: string): Readonly<Record<string, unknown>> {
  const value = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
  if (status === 200) return value;
  const { code, message } = (value.error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  throw new WritError('SERVICE_REFUSED', {
    message: `the service answered ${status} to \`${path}\`: ${String(code)}: ${String(message)}`,
    detail: { status, path, code: String(code) },
  });
}

/** Where the one service of a repository keeps its files, the same for all of its work trees. */
export interface ServicePlace {
  /** Exists; the segments below it may not. */
  readonly root: string;
  readonly segments: readonly string[];
  readonly directory: string;
  readonly discovery: string;
  readonly token: string;
  /** The right to publish events of runs; in no copy for other work trees, and named to no client. */
  readonly engineToken: string;
  readonly lock: string;
  readonly database: string;
}

/**
 * False only if a repository at or above `path` certainly has no files of a service. Asks no git: most runs have no
 * service to report to.
 */
export function mayHaveService(path: string): boolean {
  try {
    for (let at = realpathSync(path); ; at = dirname(at)) {
      const git = join(at, '.git');
      const found = lstatSync(git, { throwIfNoEntry: false });
      if (found === undefined && at !== dirname(at)) continue;
      // A linked work tree, a bare repository, or settings that put the main work tree elsewhere.
      if (
        !found?.isDirectory() ||
        /worktree|include|bare\s*=\s*true/i.test(readFileSync(join(git, 'config'), 'utf8'))
      )
        return true;
      return existsSync(join(at, '.writ', 'service')) || existsSync(join(git, 'writ', 'service'));
    }
  } catch {
    return true;
  }
}

/**
 * Finds `.writ/service` of the main work tree. A bare repository, or one with a git directory elsewhere, has no main
 * work tree that all others can find. There it is `writ/service` in the git directory.
 */
export async function findServicePlace(repository: RepositoryPlace): Promise<ServicePlace> {
  const { main } = await readRepositorySettings(repository);
  const root = main ?? repository.commonDir;
  const segments = main === undefined ? ['writ', 'service'] : ['.writ', 'service'];
  const directory = join(root, ...segments);
  return {
    root,
    segments,
    directory,
    discovery: join(directory, 'service.json'),
    token: join(directory, 'service-token'),
    engineToken: join(directory, 'engine-token'),
    lock: join(directory, 'service.lock'),
    database: join(directory, 'service.db'),
  };
}

/** How long at most until a published instance is looked for again. */
const lookMs = 250;

/**
 * Acquires the lock of a repository's service; its holder owns the database and the published files. The lock of a
 * killed holder is reclaimed.
 *
 * Throws SERVICE_ALREADY_RUNNING with `detail {pid, base_url}`, as far as they are known. For a running service it
 * throws at once. For a process that starts, ends or lists the marks, it throws after `waitMs`.
 *
 * Throws PRIVATE_FILE_UNSAFE for a link or any other file that is not our lock.
 */
export async function acquireServiceLock(place: ServicePlace, waitMs: number): Promise<ProcessLock> {
  // A cloned repository can bring a link, and reading where it leads may never end.
  await readPrivateFile(place.lock);
  for (let leftMs = waitMs; ; leftMs -= lookMs) {
    let pid: number | undefined;
    try {
      return await acquireProcessLock(place.lock, {
        waitMs: Math.min(leftMs, lookMs),
        busy: (holder) => {
          pid = holder?.pid;
          return new WritError('SERVICE_ALREADY_RUNNING');
        },
      });
    } catch (fault) {
      if (!isWritError(fault, 'SERVICE_ALREADY_RUNNING')) throw fault;
      const found = await findService(place).catch(() => undefined);
      const url = found?.state === 'running' ? found.discovery.baseUrl : undefined;
      if (url === undefined && leftMs > lookMs) continue;
      throw alreadyRunning(place, pid, url);
    }
  }
}

function alreadyRunning(place: ServicePlace, pid: number | undefined, url: string | undefined): WritError {
  const who = `process ${pid ?? '?'}`;
  return new WritError('SERVICE_ALREADY_RUNNING', {
    message:
      url === undefined
        ? `${who} holds the lock of this repository’s service and has published no address: it starts, ends or lists the marks`
        : `${who} serves this repository already on ${url}`,
    detail: {
      lock: place.lock,
      ...(pid === undefined ? {} : { pid }),
      ...(url === undefined ? {} : { base_url: url }),
    },
  });
}

/** `data` of `writ service status --json`. */
export interface ServiceStatus {
  readonly running: boolean;
  readonly state: 'running' | 'stale' | 'stopped';
  readonly pid?: number;
  readonly base_url?: string;
  /** RFC 3339. */
  readonly started_at?: string;
  readonly working_dir?: string;
  /** Path of the file with the running instance's secret token. */
  readonly token_file?: string;
  readonly health: 'ok' | 'unreachable' | 'stale';
}

/** What the instance published, whether its process still holds the lock, and whether it answers. */
export async function serviceStatus(place: ServicePlace): Promise<ServiceStatus> {
  const found = await findService(place);
  if (found.state === 'stopped') return { running: false, state: 'stopped', health: 'unreachable' };
  const { pid, baseUrl, startedAt, workingDir } = found.discovery;
  const known = { pid, base_url: baseUrl, started_at: startedAt, working_dir: workingDir };
  if (found.state === 'stale') return { running: false, state: 'stale', ...known, health: 'stale' };
  const token = { token_file: place.token };
  const health = (await isHealthy(found.discovery)) ? 'ok' : 'unreachable';
  return { running: true, state: 'running', ...known, ...token, health };
}
