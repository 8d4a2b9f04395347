import { addAbortSignal, type Readable } from 'node:stream';
import { messageOf } from '../../core/base/errors.ts';
import { askSession, type SessionAnswer } from './ask-session.ts';
import { eachLine } from './each-line.ts';
import type { SessionAccess } from './find-session.ts';
import { keepFeed } from './keep-feed.ts';
import { type ParsedRequest, parseRequest, type RpcRequest } from './parse-request.ts';
import { methodRoutes, toQuestion } from './to-question.ts';

export interface RequestStream {
  readonly access: SessionAccess;
  readonly input: Readable;
  /** One line of output; resolves when it was taken, with whether anybody still reads. */
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
 * JSON-RPC 2.0 over lines (resolutions, code-control --stdio), until the input ends and what it asked is answered, or
 * nobody reads any more. Requests and events flow at the same time; writes are sent in the order in which they came,
 * but nothing waits for a sub-agent to end. Keeps the token of the last lease, and sends it with what names none.
 * Rejects with the signal's reason.
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
      const answer = await askSession(access, { ...own, ...question }, over);
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
  addAbortSignal(over, input);
  try {
    for await (const line of eachLine(input, maxLineBytes)) {
      if (line?.every(isBlank)) continue;
      requests += 1;
      if (pending.size >= mostAtOnce) await Promise.race(pending);
      const handled: Promise<void> = handle(line === undefined ? tooLong : parseRequest(line)).finally(() =>
        pending.delete(handled),
      );
      pending.add(handled);
    }
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

/** Throws for what nests deeper than it can be written: a reader takes any depth. */
function toText(message: unknown): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    throw new Error('the session told something that is nested too deep', { cause });
  }
}

function tokenOf(attached: unknown): string | undefined {
  const { controllerToken } = (attached ?? {}) as { readonly controllerToken?: unknown };
  return typeof controllerToken === 'string' ? controllerToken : undefined;
}
