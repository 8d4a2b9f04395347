import { messageOf, WritError } from './errors.ts';
import { serviceUrlFault } from './service-url.ts';

/** One question to a service over HTTP. */
export interface HttpQuestion {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange, from name look-up to the last octet. */
  readonly withinMs: number;
  /** Most octets of an answer's body. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** What came back, whatever its status says. */
export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name; of those sent twice, the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Asks one question as `askHttp` does, within the same bounds. */
export type HttpAsker = (question: HttpQuestion) => Promise<HttpAnswer>;

/**
 * The door for HTTP that writ itself sends: `https:` only (plain on the loopback), no redirect is followed, body and
 * time are bounded, connections are not kept. NETWORK_FAILED where there is no answer, where it takes too long or is
 * too large; the headers of the question are never repeated.
 */
export async function askHttp(question: HttpQuestion): Promise<HttpAnswer> {
  const { url, method, headers = {}, body, withinMs, maxBytes } = question;
  const { origin, pathname, search } = new URL(url);
  // A query may carry what is nobody's business, and is judged by whoever made it.
  const fault = serviceUrlFault(url.slice(0, url.length - search.length));
  if (fault !== undefined) throw failed(origin, pathname, fault);
  const { Agent, request } = await import('undici');
  const limit = { connect: { timeout: withinMs }, headersTimeout: withinMs, bodyTimeout: withinMs };
  const dispatcher = new Agent({ ...limit, pipelining: 0, maxHeaderSize: 32 * 1024 });
  const time = AbortSignal.timeout(withinMs);
  const signal = question.signal === undefined ? time : AbortSignal.any([time, question.signal]);
  try {
    const answer = await request(url, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(body === undefined ? {} : { body }),
      dispatcher,
      signal,
    });
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of answer.body) {
      size += (part as Buffer).length;
      if (size > maxBytes) throw new Error(`an answer of more than ${maxBytes} octets`);
      parts.push(part as Buffer);
    }
    return { status: answer.statusCode, headers: firstOf(answer.headers), body: Buffer.concat(parts) };
  } catch (cause) {
    question.signal?.throwIfAborted();
    throw failed(origin, pathname, time.aborted ? `no whole answer within ${withinMs} ms` : messageOf(cause));
  } finally {
    await dispatcher.destroy();
  }
}

/** A long answer, read as it comes. */
export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends when the other side ends it, or is gone; read it once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * As `askHttp`, for an answer that may go on for ever: only until its headers is it bounded in time. `use` gets it;
 * when `use` settles, or the signal aborts, the connection is closed.
 */
export async function streamHttp<T>(
  question: Pick<HttpQuestion, 'url' | 'headers' | 'withinMs'> & { readonly signal: AbortSignal },
  use: (answer: HttpStream) => Promise<T>,
): Promise<T> {
  const { url, headers = {}, withinMs, signal } = question;
  const { origin, pathname } = new URL(url);
  const fault = serviceUrlFault(url);
  if (fault !== undefined) throw failed(origin, pathname, fault);
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connect: { timeout: withinMs }, headersTimeout: withinMs, bodyTimeout: 0 });
  try {
    const answer = await request(url, { method: 'GET', headers, dispatcher, signal }).catch(
      (cause: unknown) => {
        signal.throwIfAborted();
        throw failed(origin, pathname, messageOf(cause));
      },
    );
    return await use({ status: answer.statusCode, headers: firstOf(answer.headers), body: answer.body });
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

function failed(origin: string, path: string, found: string): WritError {
  return new WritError('NETWORK_FAILED', {
    message: `\`${origin}${path}\` did not answer: ${found}`,
    detail: { origin, path, found },
  });
}
