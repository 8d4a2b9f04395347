import { WritError } from '../core/base/errors.ts';
import { type HttpAnswer, requestHttp } from '../core/base/net.ts';
import { type Discovery, parseDiscovery } from '../http/discovery.ts';
import { readPrivateFile } from '../http/private-files.ts';
import { isProcessLockHeld } from '../workspace/process/process-lock.ts';
import type { ServicePlace } from './service-place.ts';

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
export async function isHealthy({ baseUrl }: Discovery): Promise<boolean> {
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

export interface ServiceQuestion {
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
