/* Sends HTTP requests within limits; the only user of undici. */
import type { Dispatcher } from 'undici';
import { messageOf, WritError } from './errors.ts';
import {
  type HttpQuestion,
  type HttpStream,
  type OpenAnswer,
  type StreamQuestion,
  serviceUrlFault,
} from './http-question.ts';

/** A complete response, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name; of headers sent twice, the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends one request as `requestHttp` does, within the same bounds. */
export type HttpClient = (question: HttpQuestion) => Promise<HttpAnswer>;

/** A request of writ itself, which may also change a resource. */
type Own<Q extends HttpQuestion | StreamQuestion> = Omit<Q, 'method'> & {
  readonly method: Q['method'] | 'PATCH' | 'PUT' | 'HEAD' | 'DELETE';
};

/**
 * Sends one HTTP request; all HTTP requests of writ itself use it. It allows `https:` only (plain HTTP on the
 * loopback) and follows no redirect. It bounds body and time, and keeps no connection.
 *
 * Throws NETWORK_FAILED if there is no response, or if the response is too slow or too large. Error messages never
 * repeat the request headers.
 */
export async function requestHttp(question: Own<HttpQuestion>): Promise<HttpAnswer> {
  const { url, withinMs } = question;
  const { Agent } = await import('undici');
  const dispatcher = new Agent({ connect: { timeout: withinMs }, pipelining: 0, maxHeaderSize: 32 * 1024 });
  const time = AbortSignal.timeout(withinMs);
  const signal = question.signal === undefined ? time : AbortSignal.any([time, question.signal]);
  try {
    const bounded = { ...question, idleMs: withinMs, signal };
    const { status, headers, body } = await streamAnswer(dispatcher, bounded);
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return { status, headers, body: Buffer.concat(parts) };
  } catch (cause) {
    question.signal?.throwIfAborted();
    const { origin, pathname } = new URL(url);
    throw time.aborted ? failed(origin, pathname, `no whole answer within ${withinMs} ms`) : cause;
  } finally {
    await dispatcher.destroy();
  }
}

/**
 * Creates a streamer that keeps its connections until it is closed. It uses the proxy that the environment names
 * (`HTTPS_PROXY`, `NO_PROXY`). Loopback addresses are reached directly.
 */
export function createStreamer(env: Readonly<Record<string, string | undefined>>): {
  readonly stream: (question: Own<StreamQuestion>) => Promise<OpenAnswer>;
  close(): Promise<void>;
} {
  let opened: ReturnType<typeof openPool> | undefined;
  return {
    async stream(question) {
      opened ??= openPool(env);
      return streamAnswer(await opened, question);
    },
    async close() {
      await (await opened)?.destroy();
    },
  };
}

const loopback = ['localhost', '127.0.0.1', '[::1]'];

async function openPool(env: Readonly<Record<string, string | undefined>>) {
  const { EnvHttpProxyAgent } = await import('undici');
  const direct = env.no_proxy ?? env.NO_PROXY ?? '';
  return new EnvHttpProxyAgent({
    httpProxy: '',
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
    noProxy: [...direct.split(',').filter((host) => host.trim() !== ''), ...loopback].join(','),
    pipelining: 1,
    maxHeaderSize: 32 * 1024,
    allowH2: false,
  });
}

async function streamAnswer(dispatcher: Dispatcher, question: Own<StreamQuestion>): Promise<OpenAnswer> {
  const { url, method, headers = {}, body, withinMs, idleMs, maxBytes } = question;
  const { origin, pathname, search } = new URL(url);
  const allowed = question.plainHttp === undefined ? [] : [question.plainHttp];
  const fault = serviceUrlFault(url.slice(0, url.length - search.length), allowed);
  if (fault !== undefined) throw failed(origin, pathname, fault, 'unreachable');
  const { request } = await import('undici');
  const close = new AbortController();
  const signal =
    question.signal === undefined ? close.signal : AbortSignal.any([close.signal, question.signal]);
  const explain = (cause: unknown, otherwise: string): WritError => {
    const name = (cause as { readonly code?: unknown } | undefined)?.code;
    const late = name === 'UND_ERR_HEADERS_TIMEOUT' || name === 'UND_ERR_BODY_TIMEOUT';
    return failed(origin, pathname, messageOf(cause), late ? 'stalled' : otherwise);
  };
  const answer = await request(url, {
    method,
    headers: { ...headers, 'accept-encoding': 'identity' },
    ...(body === undefined ? {} : { body }),
    headersTimeout: withinMs,
    bodyTimeout: idleMs,
    dispatcher,
    signal,
  }).catch((cause: unknown) => {
    question.signal?.throwIfAborted();
    throw explain(cause, 'unreachable');
  });
  // If the reader stops early, errors of the rest of the body do not matter.
  answer.body.on('error', () => {});
  const read = async function* (): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const part of answer.body) {
        size += (part as Buffer).length;
        if (size > maxBytes)
          throw failed(origin, pathname, `an answer of more than ${maxBytes} octets`, 'too-large');
        yield part as Buffer;
      }
    } catch (cause) {
      question.signal?.throwIfAborted();
      throw cause instanceof WritError ? cause : explain(cause, 'dropped');
    }
  };
  return {
    status: answer.statusCode,
    headers: firstOf(answer.headers),
    body: read(),
    async [Symbol.asyncDispose]() {
      if (!answer.body.destroyed) close.abort();
    },
  };
}

/**
 * As `requestHttp`, for a response of any length: `withinMs` is the limit until its headers. `use` receives the
 * response. The connection is closed when `use` settles or the signal aborts.
 */
export async function streamHttp<T>(
  question: Pick<HttpQuestion, 'url' | 'headers' | 'withinMs'> & { readonly signal: AbortSignal },
  use: (answer: HttpStream) => Promise<T>,
): Promise<T> {
  const { Agent } = await import('undici');
  const dispatcher = new Agent({ connect: { timeout: question.withinMs } });
  try {
    const unbounded = { method: 'GET', idleMs: 0, maxBytes: Number.POSITIVE_INFINITY } as const;
    return await use(await streamAnswer(dispatcher, { ...question, ...unbounded }));
  } finally {
    await dispatcher.destroy();
  }
}

function firstOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value;
      return first === undefined ? [] : [[name.toLowerCase(), first] as const];
    }),
  );
}

function failed(origin: string, path: string, found: string, reason?: string): WritError {
  return new WritError('NETWORK_FAILED', {
    message: `\`${origin}${path}\` did not answer: ${found}`,
    detail: { origin, path, found, ...(reason === undefined ? {} : { reason }) },
  });
}
