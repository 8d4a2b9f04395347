/* An S3 server for tests: fauxqs, which forgets conditions, behind a proxy that keeps them and makes faults. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFauxqs } from 'fauxqs';

/** One request, as a fault chooses it. */
export interface Seen {
  readonly method: string;
  /** Below the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** From 1, over all requests. */
  readonly count: number;
  readonly body: Buffer;
}

/** What happens to a request instead of its answer. */
export type Fault =
  | {
      readonly answer: number;
      readonly code?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Nothing comes; the connection stays. */
  | 'hang'
  /** The connection ends before the request reached the store. */
  | 'cut-request'
  /** The store has done it, and the connection ends before the answer. */
  | 'lost-answer'
  /** Half of the body, then the end of the connection. */
  | 'cut-answer'
  /** Answered; then `afterAnswer` is called. */
  | 'then-kill'
  /** One changed byte. */
  | 'wrong-bytes'
  /** More bytes than there should be. */
  | 'longer';

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** Every request, in order. */
  readonly seen: Seen[];
  /** Asked for each request; `undefined`: it is answered. May wait, to stop a client at a place. */
  fault: ((seen: Seen) => Fault | undefined | Promise<Fault | undefined>) | undefined;
  /** Called when a `lost-answer` was not sent, or a `then-kill` was. */
  afterAnswer: (() => void) | undefined;
  /** False: conditions are ignored, as by the server behind it. */
  keepsConditions: boolean;
  /** The same, past proxy and faults. */
  read(key: string): Promise<Buffer | undefined>;
  write(key: string, body: string): Promise<void>;
  remove(key: string): Promise<void>;
  keys(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const bucket = 'writ-test';

export async function startS3(): Promise<S3Server> {
  const behind = await startFauxqs({ port: 0, logger: false });
  behind.createBucket(bucket);
  const places = new Map<string, Promise<unknown>>();
  const server: S3Server = {
    endpoint: '',
    bucket,
    seen: [],
    fault: undefined,
    afterAnswer: undefined,
    keepsConditions: true,
    async read(key) {
      const { status, body } = await pass('GET', `/${bucket}/${key}`, {}, Buffer.of());
      return status === 200 ? body : undefined;
    },
    async write(key, body) {
      await pass('PUT', `/${bucket}/${key}`, {}, Buffer.from(body));
    },
    async remove(key) {
      await pass('DELETE', `/${bucket}/${key}`, {}, Buffer.of());
    },
    async keys() {
      const { body } = await pass('GET', `/${bucket}?list-type=2`, {}, Buffer.of());
      return [...body.toString().matchAll(/<Key>([^<]+)/g)].map(([, key = '']) => key);
    },
    async close() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      await behind.stop();
    },
  };

  function pass(method: string, path: string, headers: IncomingMessage['headers'], body: Buffer) {
    return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>(
      (resolve, reject) => {
        const { host: _, connection: __, 'transfer-encoding': ___, ...rest } = headers;
        const sent = request(
          {
            port: behind.port,
            host: '127.0.0.1',
            method,
            path,
            headers: { authorization: auth, ...rest, ...anyBytes, 'content-length': body.length },
          },
          (answer) => {
            const parts: Buffer[] = [];
            answer.on('data', (part: Buffer) => parts.push(part));
            answer.on('end', () =>
              resolve({
                status: answer.statusCode ?? 0,
                headers: answer.headers,
                body: Buffer.concat(parts),
              }),
            );
            answer.on('error', reject);
          },
        );
        sent.on('error', reject);
        sent.end(body);
      },
    );
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const url = new URL(incoming.url ?? '', 'http://proxy');
    const key = decodeURIComponent(url.pathname.slice(`/${bucket}/`.length));
    const method = incoming.method ?? '';
    const seen = { method, key, query: url.searchParams, count: server.seen.length + 1, body };
    server.seen.push(seen);
    const fault = await server.fault?.(seen);
    if (fault === 'hang') return;
    if (fault === 'cut-request') return void incoming.socket.destroy();
    if (typeof fault === 'object') {
      const text = fault.body ?? `<?xml version="1.0"?><Error><Code>${fault.code ?? 'Fault'}</Code></Error>`;
      outgoing.writeHead(fault.answer, fault.headers).end(method === 'HEAD' ? undefined : text);
      return;
    }
    const isConditional = incoming.headers['if-none-match'] === '*' && server.keepsConditions;
    const act = async () => {
      if (isConditional && (await server.read(key)) !== undefined)
        return {
          status: 412,
          headers: {},
          body: Buffer.from('<Error><Code>PreconditionFailed</Code></Error>'),
        };
      return pass(method, incoming.url ?? '', incoming.headers, body);
    };
    // Two writers of a key come one after the other.
    const turn = (places.get(key) ?? Promise.resolve()).then(act, act);
    places.set(
      key,
      turn.catch(() => undefined),
    );
    const found = await turn;
    if (fault === 'lost-answer') {
      server.afterAnswer?.();
      return void incoming.socket.destroy();
    }
    if (fault === 'then-kill') outgoing.once('finish', () => server.afterAnswer?.());
    const changed = Buffer.from(found.body);
    if (fault === 'wrong-bytes') changed[0] = (changed[0] ?? 0) ^ 1;
    const sent = fault === 'longer' ? Buffer.concat([found.body, found.body]) : changed;
    const { 'transfer-encoding': _, connection: __, ...headers } = found.headers;
    outgoing.writeHead(found.status, {
      ...headers,
      ...(method === 'HEAD' ? {} : { 'content-length': sent.length }),
    });
    if (fault !== 'cut-answer') return void outgoing.end(method === 'HEAD' ? undefined : sent);
    outgoing.write(sent.subarray(0, sent.length / 2), () => incoming.socket.destroy());
  }

  const front = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, { endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}` });
}

/** fauxqs answers 415 to types that it does not know. */
const anyBytes = { 'content-type': 'application/octet-stream' };

/** fauxqs checks none of it. */
const auth =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00';
