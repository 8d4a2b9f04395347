/* Serves a `CONNECT` through the proxy. */
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { readTarget, type Target } from './openings.ts';
import { type Egress, Passage } from './passage.ts';

/**
 * Serves one `CONNECT`. The tunnel carries only TLS for the requested host: the ClientHello is parsed before the
 * first octet is forwarded. Some clients (Node's `fetch`) use `CONNECT` for plain HTTP. That traffic goes to
 * `servePlain`, which authorizes every request in it.
 */
export async function serveTunnel(
  egress: Egress,
  authority: string,
  client: Socket,
  head: Buffer,
  servePlain: (client: Socket, target: Target) => void,
): Promise<void> {
  let upstream: Socket | undefined;
  const passage = new Passage(egress, 'connect', authority, () => {
    client.destroy();
    upstream?.destroy();
  });
  // Node stops managing a socket that it passes to a `connect` listener, so the idle timeout is set here.
  client.setTimeout(egress.limits.idleMs, () => client.destroy());
  const target = readTarget(authority);
  if (target === undefined) {
    passage.refuse('malformed');
    answer(client, 400, 'malformed');
    return;
  }
  const reached = await passage.reach(target);
  if (!reached.ok) {
    answer(client, reached.outcome === 'refused' ? 403 : 502, reached.why);
    return;
  }
  upstream = reached.socket;
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  const { bytes, reading } = await firstFlight(client, head, egress.limits.headMs);
  if (reading.kind === 'not-tls' && isUpperCase(bytes[0])) {
    passage.forget();
    upstream.destroy();
    client.unshift(bytes);
    servePlain(client, target);
    return;
  }
  const problem = helloProblem(reading, target);
  if (problem !== undefined) {
    passage.cut(problem);
    return;
  }
  if (client.destroyed || upstream.destroyed) {
    passage.cut();
    return;
  }
  passage.through();
  passage.count('sent', bytes.length);
  upstream.write(bytes);
  let open = 2;
  const over = (): void => {
    open -= 1;
    if (open === 0) passage.done();
  };
  pipeline(client, passage.meter('sent'), upstream, over);
  pipeline(upstream, passage.meter('received'), client, over);
}

function helloProblem(reading: HelloReading, { host, kind }: Target) {
  if (reading.kind !== 'hello') return 'not-tls';
  if (reading.isEncrypted) return 'encrypted-hello';
  if (reading.serverName === undefined) return kind === 'name' ? 'no-server-name' : undefined;
  return reading.serverName === host ? undefined : 'server-name';
}

/** What a method of HTTP begins with, and TLS never. */
function isUpperCase(octet: number | undefined): boolean {
  return octet !== undefined && octet >= 0x41 && octet <= 0x5a;
}

/** What the client sends first, until it can be read or the time is up (`more`). */
function firstFlight(
  client: Duplex,
  head: Buffer,
  deadlineMs: number,
): Promise<{ bytes: Buffer; reading: HelloReading }> {
  return new Promise((resolve) => {
    let bytes = head;
    const settle = (reading: HelloReading): void => {
      clearTimeout(timer);
      client.off('data', take).off('close', stop).off('end', stop).pause();
      resolve({ bytes, reading });
    };
    const stop = (): void => settle({ kind: 'more' });
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const reading = readClientHello(bytes);
      if (reading.kind !== 'more') settle(reading);
    };
    const timer = setTimeout(stop, deadlineMs);
    client.on('data', take).once('close', stop).once('end', stop);
    take(Buffer.alloc(0));
  });
}

/** Sends the reason to the client and closes the connection. */
export function answer(client: Duplex, status: 400 | 403 | 408 | 431 | 502 | 503, why: string): void {
  if (!client.writable) return;
  const text = `writ: ${why}\n`;
  client.end(
    `HTTP/1.1 ${status} ${why}\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
    () => client.destroy(),
  );
}

/** The host that a TLS client requests in its first flight. `more`: the ClientHello is not complete yet. */
type HelloReading =
  | { readonly kind: 'more' }
  | { readonly kind: 'not-tls' }
  | { readonly kind: 'hello'; readonly serverName: string | undefined; readonly isEncrypted: boolean };

/** Most octets of a ClientHello with its record headers. */
export const maxHelloBytes = 16_384;

const [handshakeRecord, clientHello, serverNameExtension, hostName] = [22, 1, 0, 0];
/**
 * Encrypted ClientHello (RFC 9849) and its predecessor draft, encrypted SNI. With either one, the outer name is not
 * reliable.
 */
const encryptedExtensions = [0xfe0d, 0xffce];

/**
 * Reads a ClientHello (RFC 8446, 4.1.2), which may span records. Anything not exactly one, or longer than
 * `maxHelloBytes`, is `not-tls`.
 */
export function readClientHello(bytes: Buffer): HelloReading {
  const message: Buffer[] = [];
  let length = 0;
  for (let at = 0; ; ) {
    if (bytes.length > at && bytes[at] !== handshakeRecord) return { kind: 'not-tls' };
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return { kind: 'not-tls' };
    if (bytes.length < at + 5) break;
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > maxHelloBytes) return { kind: 'not-tls' };
    const fragment = bytes.subarray(at + 5, at + 5 + size);
    message.push(fragment);
    length += fragment.length;
    const whole = Buffer.concat(message);
    if (whole.length > 0 && whole[0] !== clientHello) return { kind: 'not-tls' };
    if (whole.length >= 4) {
      const wanted = 4 + whole.readUIntBE(1, 3);
      if (wanted > maxHelloBytes) return { kind: 'not-tls' };
      if (length >= wanted) return readBody(whole.subarray(4, wanted));
    }
    if (fragment.length < size) break;
    at += 5 + size;
  }
  return bytes.length >= maxHelloBytes ? { kind: 'not-tls' } : { kind: 'more' };
}

function readBody(body: Buffer): HelloReading {
  const outer = new Vectors(body);
  outer.skip(34);
  outer.vector(1);
  outer.vector(2);
  outer.vector(1);
  const extensions = new Vectors(outer.atEnd ? Buffer.alloc(0) : outer.vector(2));
  const seen = new Set<number>();
  let serverName: string | undefined;
  while (!extensions.atEnd && !extensions.broken) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (seen.has(type)) return { kind: 'not-tls' };
    seen.add(type);
    if (type !== serverNameExtension) continue;
    const names = new Vectors(content);
    const list = new Vectors(names.vector(2));
    const isHostName = list.number(1) === hostName;
    const name = list.vector(2);
    if (!isHostName || !list.atEnd || !names.atEnd || list.broken || names.broken) return { kind: 'not-tls' };
    serverName = name.toString('latin1').toLowerCase();
  }
  if (outer.broken || extensions.broken || !outer.atEnd) return { kind: 'not-tls' };
  return { kind: 'hello', serverName, isEncrypted: encryptedExtensions.some((type) => seen.has(type)) };
}

/** Reads length-prefixed fields; once one does not fit it is `broken` and everything read is empty. */
class Vectors {
  readonly #bytes: Buffer;
  #at = 0;
  broken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(count: number): void {
    this.#take(count);
  }

  number(size: number): number {
    const octets = this.#take(size);
    return octets.length === size ? octets.readUIntBE(0, size) : -1;
  }

  vector(lengthSize: number): Buffer {
    return this.#take(Math.max(0, this.number(lengthSize)));
  }

  #take(count: number): Buffer {
    if (this.broken || this.#at + count > this.#bytes.length) {
      this.broken = true;
      return Buffer.alloc(0);
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}
