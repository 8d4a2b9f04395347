/* Sends requests to the public network for an attempt: whole answers, and answers that are read as they arrive. */
import type { Duplex } from 'node:stream';
import { WritError } from '../../core/base/errors.ts';
import type { HttpStreamer } from '../../core/base/http-question.ts';
import type { NetworkObstacle, NetworkUse } from '../../core/interfaces/scanner.ts';
import { authorityOf, type EgressPolicy, readTarget, type Target, UseList } from './openings.ts';
import { type IncomingMessage, type Outside, request as open, realOutside, secured } from './outside.ts';
import { defaultLimits, type Egress, type EgressLimits, Passage } from './passage.ts';

/** One request that writ itself sends into the public network. */
interface SentQuestion {
  /** http or https. */
  readonly url: URL;
  /** Default GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** One GET with a whole answer. */
export interface PublicQuestion extends Omit<SentQuestion, 'method' | 'body'> {
  /** For all of it, from name look-up to the last octet. */
  readonly withinMs: number;
  /** Of the body; what is more is cut. */
  readonly maxBytes: number;
}

/** `refused`: by policy or address; else there was no whole answer. */
interface NoAnswer {
  readonly ok: false;
  readonly refused: boolean;
  readonly why: NetworkObstacle | 'no-answer';
}

export type PublicAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      /** By lower-case name. */
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: Buffer;
      readonly isCut: boolean;
    }
  | NoAnswer;

/** An answer whose headers have arrived. `over` closes its connection and records it. */
interface BegunAnswer {
  readonly ok: true;
  readonly answer: IncomingMessage;
  readonly passage: Passage;
  over(): void;
}

/**
 * Sends one request with the same checks that the proxy applies to a client. Host and port are authorized, the name is
 * resolved once, and every address must be public. writ connects to one of them and verifies TLS for that name. It
 * follows no redirect and keeps no cookie. The request is recorded as a use of the network.
 */
async function beginPublic(egress: Egress, question: SentQuestion): Promise<BegunAnswer | NoAnswer> {
  const { url } = question;
  const { signal } = egress;
  const isTls = url.protocol === 'https:';
  let cut = (): void => {};
  const passage = new Passage(egress, isTls ? 'connect' : 'http', url.host, () => cut());
  const target = readTarget(url.host, isTls ? 443 : 80);
  if (target === undefined) {
    passage.refuse('malformed');
    return { ok: false, refused: true, why: 'malformed' };
  }
  const reached = await passage.reach(target);
  if (!reached.ok) return { ok: false, refused: reached.outcome === 'refused', why: reached.why };
  passage.through();
  const { socket } = reached;
  const stream = isTls ? secured(socket, target.host, egress.outside.authorities) : socket;
  cut = () => {
    stream.destroy();
    socket.destroy();
  };
  const stop = (): void => cut();
  signal.addEventListener('abort', stop, { once: true });
  const over = (): void => {
    signal.removeEventListener('abort', stop);
    passage.done();
    cut();
  };
  try {
    passage.count('sent', question.body?.length ?? 0);
    return { ok: true, answer: await answerOf(egress, stream, target, question), passage, over };
  } catch {
    over();
    return { ok: false, refused: false, why: 'no-answer' };
  }
}

function answerOf(
  { limits, signal }: Egress,
  stream: Duplex,
  target: Target,
  { url, method = 'GET', headers, body }: SentQuestion,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = open({
      createConnection: () => stream,
      method,
      path: `${url.pathname}${url.search}`,
      setHost: false,
      maxHeaderSize: limits.headerBytes * 2,
      headers: {
        'user-agent': 'writ',
        ...headers,
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
        host: authorityOf(target, url.protocol === 'https:' ? 443 : 80),
        'accept-encoding': 'identity',
        connection: 'close',
      },
    });
    stream.on('error', reject);
    stream.once('close', () => reject(new Error('closed')));
    request.once('error', reject);
    request.once('response', (answer: IncomingMessage) => {
      // What reads the body sees its errors; an answer that no one reads must not end the process.
      answer.on('error', () => {});
      resolve(answer);
    });
    if (signal.aborted) stream.destroy();
    request.end(body);
  });
}

async function askPublic(given: Egress, question: PublicQuestion): Promise<PublicAnswer> {
  const { withinMs, maxBytes } = question;
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(withinMs)]);
  const begun = await beginPublic({ ...given, signal }, question);
  if (!begun.ok) return begun;
  const { answer, passage } = begun;
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      passage.count('received', part.length);
      size += part.length;
      parts.push(part);
      if (size > maxBytes) break;
    }
    return {
      ok: true,
      status: answer.statusCode ?? 0,
      headers: firstOf(answer.headers),
      body: Buffer.concat(parts).subarray(0, maxBytes),
      isCut: size > maxBytes,
    };
  } catch {
    return { ok: false, refused: false, why: 'no-answer' };
  } finally {
    begun.over();
  }
}

/** The same with an answer that is read as it arrives; the limits of the client hold for its idle time and length. */
function streamPublic(given: Egress): HttpStreamer {
  return async ({ url, method, headers = {}, body, withinMs, maxBytes, signal }) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), withinMs);
    const ends = [given.signal, late.signal, ...(signal === undefined ? [] : [signal])];
    const begun = await beginPublic(
      { ...given, signal: AbortSignal.any(ends) },
      { url: new URL(url), method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) },
    ).finally(() => clearTimeout(timer));
    if (!begun.ok) throw notAnswered(new URL(url).host, begun.why);
    const { answer, passage, over } = begun;
    const read = async function* (): AsyncGenerator<Uint8Array> {
      let size = 0;
      try {
        for await (const part of answer as AsyncIterable<Buffer>) {
          passage.count('received', part.length);
          size += part.length;
          if (size > maxBytes) throw notAnswered(new URL(url).host, 'too-large');
          yield part;
        }
      } catch (cause) {
        throw cause instanceof WritError ? cause : notAnswered(new URL(url).host, 'dropped');
      } finally {
        over();
      }
    };
    const named = Object.entries(firstOf(answer.headers)).filter((one) => one[1] !== undefined);
    return {
      status: answer.statusCode ?? 0,
      headers: Object.fromEntries(named) as Record<string, string>,
      body: read(),
      [Symbol.asyncDispose]: async () => over(),
    };
  };
}

function notAnswered(host: string, why: string): WritError {
  return new WritError('NETWORK_FAILED', {
    message: `\`${host}\` gave no answer: ${why}`,
    detail: { host, reason: why },
  });
}

function firstOf(headers: IncomingMessage['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/** Sends requests to the public network for one attempt, and records its uses. */
export interface PublicClient {
  /** Within what `policy` opens. */
  ask(question: PublicQuestion, policy: EgressPolicy): Promise<PublicAnswer>;
  /** Within what `policy` opens. Throws NETWORK_FAILED. */
  stream(policy: EgressPolicy): HttpStreamer;
  uses(): readonly NetworkUse[];
}

/** Of one attempt. */
const askLimits: EgressLimits = {
  ...defaultLimits,
  connections: 1000,
  bytes: 512 * 1024 * 1024,
  idleMs: 20_000,
  connectionMs: 60_000,
};

export function openPublicClient(
  signal: AbortSignal,
  outside: Outside = realOutside,
  more: Partial<EgressLimits> = {},
): PublicClient {
  const limits = { ...askLimits, ...more };
  const shared: Omit<Egress, 'policy'> = {
    outside,
    limits,
    uses: new UseList(),
    left: { bytes: limits.bytes, connections: limits.connections },
    signal,
    open: new Set(),
  };
  return {
    ask: (question, policy) => askPublic({ ...shared, policy }, question),
    stream: (policy) => streamPublic({ ...shared, policy }),
    uses: () => shared.uses.list(),
  };
}
