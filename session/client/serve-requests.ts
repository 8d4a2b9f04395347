/** Serves `code-control --stdio`: JSON-RPC requests and events of a session. */
import { addAbortSignal, type Readable } from 'node:stream';
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { readEventStream } from '../../core/base/event-stream.ts';
import { requestHttp, streamHttp } from '../../core/base/net.ts';
import { cutLines, type SessionAccess } from './find-session.ts';
import {
  methodRoutes,
  type ParsedRequest,
  parseRequest,
  type RpcError,
  type RpcRequest,
  type SessionQuestion,
  toQuestion,
} from './session-requests.ts';

const maxAnswerBytes = 64 * 1024 * 1024;

/** The body of an answer 200, else why there is none: -32000 with `{status, code}`, -32001, -32603 for no JSON. */
type SessionAnswer = { readonly result: unknown } | { readonly error: RpcError };

/** Sends a request to the session's server. Rejects only with the signal's reason. */
async function sendToSession(
  access: SessionAccess,
  { method, path, body, controllerToken, withinMs }: SessionQuestion,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const { baseUrl, token } = access;
  const gone = await whyGone(access);
  if (gone !== undefined) return { error: gone };
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined || method === 'GET' ? {} : { 'x-svc-control-token': token }),
    ...(controllerToken === undefined ? {} : { 'x-code-controller-token': controllerToken }),
  };
  try {
    const answer = await requestHttp({
      url: `${baseUrl}${path}`,
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      withinMs,
      maxBytes: maxAnswerBytes,
      signal,
    });
    return readAnswer(answer.status, answer.body);
  } catch (fault) {
    signal.throwIfAborted();
    return { error: transportFault(fault) };
  }
}

/** After a session has ended, another program may listen on its port. */
async function whyGone({ baseUrl, isThere }: SessionAccess): Promise<RpcError | undefined> {
  if (isThere === undefined || (await isThere())) return undefined;
  return { code: -32001, message: `no session of this work tree answers on ${baseUrl} any more` };
}

/** An answer as it came. */
function readAnswer(status: number, body: Buffer): SessionAnswer {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return { error: { code: -32603, message: `the answer ${status} is no JSON` } };
  }
  if (status === 200) return { result: value };
  const { error } = (value ?? {}) as { readonly error?: unknown };
  const { code, message, details } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const data = {
    status,
    code: typeof code === 'string' ? code : 'HTTP_ERROR',
    ...(details === undefined ? {} : { details }),
  };
  const said = typeof message === 'string' ? message : `the session answered ${status}`;
  return { error: { code: -32000, message: said, data } };
}

/** The session was not reached, or did not answer in time; anything else is a fault of our own. */
function transportFault(fault: unknown): RpcError {
  return { code: isWritError(fault) ? -32001 : -32603, message: messageOf(fault) };
}

export interface RequestStream {
  readonly access: SessionAccess;
  readonly input: Readable;
  /** Writes one line; resolves with `false` if the reader is gone. */
  readonly write: (line: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** More than the body of any route, with its frame. */
const maxLineBytes = 1024 * 1024;
/** Requests under way; more are read when one of them is answered. */
const mostAtOnce = 64;

/** What a method comes to, and what begins once its answer is out. */
type Outcome = { readonly answer: SessionAnswer; readonly begin?: () => void };

/**
 * Serves JSON-RPC 2.0 over lines until the input ends and all requests are answered, or the reader is gone. Requests
 * and events run in parallel. Writes are sent in order, but none waits for a sub-agent. Sends the token of the last
 * lease unless a request has its own. Rejects with the signal's reason.
 */
export async function serveRequests({
  access,
  input,
  write,
  signal,
}: RequestStream): Promise<{ readonly requests: number; readonly events: number }> {
  const unread = new AbortController();
  const over = AbortSignal.any([signal, unread.signal]);
  let [requests, events] = [0, 0];
  let lease: string | undefined;
  let writes: Promise<unknown> = Promise.resolve();
  const say = async (message: Readonly<Record<string, unknown>>): Promise<void> => {
    const line = `${toText({ jsonrpc: '2.0', ...message })}\n`;
    if (!over.aborted && !(await write(line))) unread.abort();
  };
  const feed = keepFeed(access, over, async (event, data) => {
    events += 1;
    await say({ method: 'events.notification', params: { event, data } });
  });
  const ask = async (method: string, params: RpcRequest['params']): Promise<SessionAnswer> => {
    const route = methodRoutes[method];
    if (route === undefined || !Object.hasOwn(methodRoutes, method))
      return { error: { code: -32601, message: `no such method; there are ${methods.join(', ')}` } };
    const isAttach = method === 'controller.attach';
    if (isAttach && (params.kind ?? 'automation') !== 'automation')
      return {
        error: {
          code: -32602,
          message: 'a client of code-control attaches as `automation`: leave `kind` out',
        },
      };
    const question = toQuestion(route, isAttach ? { ...params, kind: 'automation' } : params);
    if ('code' in question) return { error: question };
    const isWrite = question.method === 'POST';
    const needsLease = isWrite && !isAttach;
    const send = async (): Promise<SessionAnswer> => {
      const own = lease !== undefined && needsLease ? { controllerToken: lease } : {};
      const answer = await sendToSession(access, { ...own, ...question }, over);
      if ('result' in answer && isAttach) lease = tokenOf(answer.result);
      if ('result' in answer && method === 'controller.detach') lease = undefined;
      return answer;
    };
    if (!isWrite) return send();
    const sent = writes.then(send);
    if (method !== 'task.dispatch') writes = sent.catch(() => undefined);
    return sent;
  };
  const act = async ({ method, params }: RpcRequest): Promise<Outcome> => {
    if (method !== 'events.subscribe' && method !== 'events.unsubscribe')
      return { answer: await ask(method, params) };
    if (Object.keys(params).length > 0)
      return { answer: { error: { code: -32602, message: 'expected no parameter' } } };
    if (method === 'events.subscribe') return feed.subscribe();
    await feed.unsubscribe();
    return { answer: { result: { subscribed: false } } };
  };
  const handle = async (request: ParsedRequest): Promise<void> => {
    let outcome: Outcome;
    try {
      outcome = 'error' in request ? { answer: request } : await act(request);
    } catch (fault) {
      if (over.aborted) return;
      outcome = { answer: { error: { code: -32603, message: messageOf(fault) } } };
    }
    const { answer, begin } = outcome;
    const { id } = request;
    if (id !== undefined)
      await say('error' in answer ? { id, error: answer.error } : { id, result: answer.result }).catch(
        (fault) => say({ id, error: { code: -32603, message: messageOf(fault) } }),
      );
    begin?.();
  };
  const pending = new Set<Promise<void>>();
  const cut = cutLines(maxLineBytes);
  const take = async (line: Buffer | 'too-long'): Promise<void> => {
    if (line !== 'too-long' && line.every(isBlank)) return;
    requests += 1;
    if (pending.size >= mostAtOnce) await Promise.race(pending);
    const handled: Promise<void> = handle(line === 'too-long' ? tooLong : parseRequest(line)).finally(() =>
      pending.delete(handled),
    );
    pending.add(handled);
  };
  addAbortSignal(over, input);
  try {
    for await (const chunk of input) for (const line of cut(chunk)) await take(line);
    for (const line of cut()) await take(line);
    await Promise.all(pending);
  } catch (fault) {
    if (!over.aborted) throw fault;
  } finally {
    await feed.unsubscribe();
  }
  signal.throwIfAborted();
  return { requests, events };
}

const methods = [...Object.keys(methodRoutes), 'events.subscribe', 'events.unsubscribe'];

const tooLong: ParsedRequest = {
  id: null,
  error: { code: -32600, message: `expected a line of at most ${maxLineBytes} octets` },
};

function isBlank(octet: number): boolean {
  return octet === 0x20 || octet === 0x09 || octet === 0x0d;
}

/** Throws if the message is nested too deep for `JSON.stringify`. */
function toText(message: unknown): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    throw new Error('the session sent something that is nested too deep', { cause });
  }
}

function tokenOf(attached: unknown): string | undefined {
  const { controllerToken } = (attached ?? {}) as { readonly controllerToken?: unknown };
  return typeof controllerToken === 'string' ? controllerToken : undefined;
}

/** The one subscription that a client has, or has not. */
interface KeptFeed {
  /** Resolves when the stream is open; no event comes before `begin`. A second call returns the same result. */
  subscribe(): Promise<Outcome>;
  /** After this resolves, no further events arrive. */
  unsubscribe(): Promise<void>;
}

interface Following {
  readonly stop: AbortController;
  ended?: Promise<void>;
}

const subscribed: SessionAnswer = { result: { subscribed: true } };

/**
 * Follows the events of a session while its client is subscribed. A stream that ends by itself is reported as the
 * event `closed`.
 */
function keepFeed(
  access: SessionAccess,
  signal: AbortSignal,
  notify: (event: string, data: unknown) => Promise<void>,
): KeptFeed {
  let current: Following | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    subscribe: () =>
      inTurn(async () => {
        if (current !== undefined) return { answer: subscribed };
        const one: Following = { stop: new AbortController() };
        const feed = await followSession(access, AbortSignal.any([signal, one.stop.signal]), notify);
        if ('error' in feed) return { answer: feed };
        current = one;
        one.ended = feed.ended.then(async (reason) => {
          if (current === one) current = undefined;
          if (reason !== undefined) await notify('closed', { reason });
        });
        return { answer: subscribed, begin: feed.begin };
      }),
    unsubscribe: () =>
      inTurn(async () => {
        const one = current;
        current = undefined;
        one?.stop.abort();
        await one?.ended;
      }),
  };
}

const connectWithinMs = 10_000;
/** Large enough for the snapshot of a long session. */
const maxEventBytes = 16 * 1024 * 1024;
const maxRefusalBytes = 64 * 1024;

/** An open event stream, or why it could not be opened. */
type Feed =
  | { readonly error: RpcError }
  /** `ended`: the reason why the events ended, or `undefined` if they were stopped. */
  | { readonly begin: () => void; readonly ended: Promise<string | undefined> };

/** Opens the event stream of a session. Events are delivered after `begin`; the signal ends the stream. */
async function followSession(
  access: SessionAccess,
  signal: AbortSignal,
  onEvent: (event: string, data: unknown) => Promise<void>,
): Promise<Feed> {
  const gone = await whyGone(access);
  if (gone !== undefined) return { error: gone };
  const opened = Promise.withResolvers<Feed>();
  const begun = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => begun.resolve(), { once: true });
  const question = {
    url: `${access.baseUrl}/api/code/events`,
    headers: { accept: 'text/event-stream' },
    withinMs: connectWithinMs,
    signal,
  };
  const ended = streamHttp(question, async ({ status, headers, body }) => {
    if (status !== 200) {
      const answer = readAnswer(status, await readBounded(body));
      opened.resolve('error' in answer ? answer : { error: { code: -32603, message: 'no stream' } });
      return undefined;
    }
    if (!headers['content-type']?.startsWith('text/event-stream')) {
      opened.resolve({ error: { code: -32603, message: 'the answer 200 is no event stream' } });
      return undefined;
    }
    opened.resolve({ begin: begun.resolve, ended });
    await begun.promise;
    try {
      for await (const { type, data } of readEventStream(body, { maxEventBytes })) {
        signal.throwIfAborted();
        await onEvent(type, JSON.parse(data));
      }
      return 'the session ended';
    } catch (fault) {
      if (signal.aborted) return undefined;
      return isWritError(fault) ? fault.message : `the connection was cut: ${messageOf(fault)}`;
    }
  });
  ended.catch((fault) => {
    if (signal.aborted) opened.reject(signal.reason);
    else opened.resolve({ error: transportFault(fault) });
  });
  return opened.promise;
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxRefusalBytes) break;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
