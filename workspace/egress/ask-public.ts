/* Sends GET requests to the public network for an attempt. */
import type { Duplex } from 'node:stream';
import type { NetworkObstacle, NetworkUse } from '../../core/interfaces/scanner.ts';
import { authorityOf, type EgressPolicy, readTarget, type Target, UseList } from './openings.ts';
import { type IncomingMessage, type Outside, request as open, realOutside, secured } from './outside.ts';
import { defaultLimits, type Egress, type EgressLimits, Passage } from './passage.ts';

/** One GET that writ itself sends into the public network. */
export interface PublicQuestion {
  /** http or https. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** For all of it, from name look-up to the last octet. */
  readonly withinMs: number;
  /** Of the body; what is more is cut. */
  readonly maxBytes: number;
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
  /** `refused`: by policy or address; else there was no whole answer. */
  | { readonly ok: false; readonly refused: boolean; readonly why: NetworkObstacle | 'no-answer' };

/**
 * Sends one GET with the same checks that the proxy applies to a client. Host and port are authorized, the name is
 * resolved once, and every address must be public. writ connects to one of them and verifies TLS for that name. It
 * follows no redirect and keeps no cookie. Time and size are bounded, and the request is recorded as a use of the
 * network.
 */
async function askPublic(given: Egress, question: PublicQuestion): Promise<PublicAnswer> {
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
  try {
    return await exchange(egress, passage, stream, target, question);
  } catch {
    return { ok: false, refused: false, why: 'no-answer' };
  } finally {
    signal.removeEventListener('abort', stop);
    passage.done();
    cut();
  }
}

function exchange(
  egress: Egress,
  passage: Passage,
  stream: Duplex,
  target: Target,
  { url, headers, maxBytes }: PublicQuestion,
): Promise<PublicAnswer> {
  return new Promise((resolve, reject) => {
    const request = open({
      createConnection: () => stream,
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      setHost: false,
      maxHeaderSize: egress.limits.headerBytes * 2,
      headers: {
        'user-agent': 'writ',
        ...headers,
        host: authorityOf(target, url.protocol === 'https:' ? 443 : 80),
        'accept-encoding': 'identity',
        connection: 'close',
      },
    });
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('closed')));
    request.once('error', reject);
    request.once('response', (answer: IncomingMessage) => {
      const parts: Buffer[] = [];
      let size = 0;
      const settle = (isCut: boolean): void => {
        resolve({
          ok: true,
          status: answer.statusCode ?? 0,
          headers: firstOf(answer.headers),
          body: Buffer.concat(parts).subarray(0, maxBytes),
          isCut,
        });
      };
      answer.on('error', reject);
      answer.on('data', (part: Buffer) => {
        passage.count('received', part.length);
        size += part.length;
        parts.push(part);
        if (size > maxBytes) settle(true);
      });
      answer.once('end', () => settle(false));
    });
    request.end();
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
  uses(): readonly NetworkUse[];
}

/** Of one attempt. */
const limits: EgressLimits = {
  ...defaultLimits,
  connections: 1000,
  bytes: 512 * 1024 * 1024,
  idleMs: 20_000,
  connectionMs: 60_000,
};

export function openPublicClient(signal: AbortSignal, outside: Outside = realOutside): PublicClient {
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
    uses: () => shared.uses.list(),
  };
}
