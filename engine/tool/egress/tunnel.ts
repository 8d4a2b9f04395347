import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { type HelloReading, readClientHello } from './client-hello.ts';
import { type Egress, Passage } from './passage.ts';
import { readTarget, type Target } from './target.ts';

/**
 * Serves one `CONNECT`. The tunnel carries TLS for the host that it was asked for and nothing else: the ClientHello is
 * read before a single octet goes out. Some clients (Node's `fetch`) ask for plain HTTP this way: that is handed to
 * `servePlain`, which judges every request in it.
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
  // Node lets go of a socket that it hands over.
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

/** Tells the client why and hangs up. */
export function answer(client: Duplex, status: 400 | 403 | 408 | 431 | 502 | 503, why: string): void {
  if (!client.writable) return;
  const text = `writ: ${why}\n`;
  client.end(
    `HTTP/1.1 ${status} ${why}\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
    () => client.destroy(),
  );
}
