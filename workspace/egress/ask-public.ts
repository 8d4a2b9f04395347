/* Sends requests of writ itself to the public network. */
import type { Duplex } from 'node:stream';
import type { NetworkObstacle, NetworkUse } from '../../core/interfaces/scanner.ts';
import { authorityOf, type EgressPolicy, readTarget, type Target, UseList } from './openings.ts';
import { type IncomingMessage, type Outside, request as open, realOutside, secured } from './outside.ts';
import { defaultLimits, type Egress, type EgressLimits, Passage } from './passage.ts';

/** One request that writ itself sends into the public network; without `body` a GET, with it a POST. */
export interface PublicQuestion {
  /** http or https. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For all of it, from name look-up to the last octet. */
  readonly withinMs: number;
  /** Of the body; what is more is cut. */
  readonly maxBytes: number;
}

type Unanswered = {
  readonly ok: false;
  readonly refused: boolean;
  readonly why: NetworkObstacle | 'no-answer';
};

export type PublicAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      /** By lower-case name. */
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: Buffer;
      readonly isCut: boolean;
    }
  /** `refused`: by policy or address; else there was no whole answer. */
  | Unanswered;

/** An answer whose body arrives. Disposing of it ends the connection; `body` may be read once, and may throw. */
interface PublicStream extends AsyncDisposable {
  readonly ok: true;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Sends one request with the same checks that the proxy applies to a client. Host and port are authorized, the name
 * is resolved once, and every address must be public. writ connects to one of them and verifies TLS for that name. It
 * follows no redirect and keeps no cookie. Time is bounded, and the request is recorded as a use of the network.
 */
async function openPublic(
  given: Egress,
  question: Omit<PublicQuestion, 'maxBytes'>,
): Promise<PublicStream | Unanswered> {
  const { url } = question;
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(question.withinMs)]);
  const egress: Egress = { ...given, signal };
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
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', stop);
    passage.done();
    cut();
  };
  try {
    const answer = await exchange(egress, passage, stream, target, question);
    return {
      ok: true,
      status: answer.statusCode ?? 0,
      headers: firstOf(answer.headers),
      body: counted(answer, passage),
      [Symbol.asyncDispose]: close,
    };
  } catch {
    await close();
    return { ok: false, refused: false, why: 'no-answer' };
  }
}

async function* counted(answer: IncomingMessage, passage: Passage): AsyncGenerator<Buffer, void> {
  for await (const part of answer as AsyncIterable<Buffer>) {
    passage.count('received', part.length);
    yield part;
  }
}

/** Resolves with the head of the answer. */
function exchange(
  egress: Egress,
  passage: Passage,
  stream: Duplex,
  target: Target,
  { url, headers, body }: Omit<PublicQuestion, 'maxBytes'>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = open({
      createConnection: () => stream,
      method: body === undefined ? 'GET' : 'POST',
      path: `${url.pathname}${url.search}`,
      setHost: false,
      maxHeaderSize: egress.limits.headerBytes * 2,
      headers: {
        'user-agent': 'writ',
        ...headers,
        host: authorityOf(target, url.protocol === 'https:' ? 443 : 80),
        'accept-encoding': 'identity',
        connection: 'close',
        ...(body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }),
      },
    });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('closed')));
    request.once('error', reject);
    request.once('response', resolve);
    if (body !== undefined) passage.count('sent', Buffer.byteLength(body));
    request.end(body);
  });
}

/** Sends one request and reads its answer. */
async function askPublic(egress: Egress, question: PublicQuestion): Promise<PublicAnswer> {
  const answer = await openPublic(egress, question);
  if (!answer.ok) return answer;
  const { status, headers, body } = answer;
  await using _ = answer;
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      size += part.length;
      parts.push(part);
      if (size > question.maxBytes) break;
    }
  } catch {
    return { ok: false, refused: false, why: 'no-answer' };
  }
  const isCut = size > question.maxBytes;
  return { ok: true, status, headers, body: Buffer.concat(parts).subarray(0, question.maxBytes), isCut };
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
  /** The same, with the body as it arrives. */
  open(question: Omit<PublicQuestion, 'maxBytes'>, policy: EgressPolicy): ReturnType<typeof openPublic>;
  uses(): readonly NetworkUse[];
}

/** Of one attempt. */
const usualLimits: EgressLimits = {
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
  const limits = { ...usualLimits, ...more };
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
    open: (question, policy) => openPublic({ ...shared, policy }, question),
    uses: () => shared.uses.list(),
  };
}
