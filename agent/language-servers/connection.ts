/* Exchanges LSP messages with a language server, within limits. */
import { isRecord } from '../../core/base/json-pointer.ts';
import type { SandboxPipes } from '../../core/interfaces/sandbox.ts';

/** A conversation with one process of a language server. Every failure of it is a ServerFault, and ends it. */
export interface Connection {
  /**
   * Sends a request. Resolves to `undefined` if the server returns an error; `refused` then receives the error
   * message.
   */
  ask(
    method: string,
    params: unknown,
    withinMs: number,
    refused?: (message: string) => void,
  ): Promise<unknown>;
  tell(method: string, params: unknown): void;
  /** Resolves when the connection ends, with the reason. */
  readonly ended: Promise<ServerFault>;
  /** Ends it. */
  end(why: ServerFault): void;
}

/** Notifications and requests that a server sends. */
interface ServerEvents {
  notified(method: string, params: unknown): void;
  /** Returns the answer to a request of the server; `undefined` if the method is unknown. */
  answer(method: string, params: unknown): unknown;
}

interface Open {
  readonly settle: (answer: unknown) => void;
  readonly fail: (fault: ServerFault) => void;
  readonly refused: ((message: string) => void) | undefined;
}

/** Maximum number of requests from a server, and of answers without a request. */
const [maxRequests, maxStrays] = [10_000, 1000];

/** Opens a conversation over the pipes of a process. */
export function openConnection({ input, output }: SandboxPipes, events: ServerEvents): Connection {
  const open = new Map<number, Open>();
  let last = 0;
  let requests = 0;
  let strays = 0;
  let fault: ServerFault | undefined;
  let told: (fault: ServerFault) => void = () => {};
  const ended = new Promise<ServerFault>((resolve) => {
    told = resolve;
  });
  const end = (why: ServerFault): void => {
    if (fault) return;
    fault = why;
    for (const one of open.values()) one.fail(why);
    open.clear();
    output.destroy();
    told(why);
  };
  const write = (message: object): void => {
    if (!fault) input.write(frame(message));
  };
  input.on('error', () => {});
  output.on('error', () => {});

  const take = (message: Readonly<Record<string, unknown>>): void => {
    const { method, id, params } = message;
    if (method === undefined) takeAnswer(message);
    else if (typeof method !== 'string') throw new ServerFault('sent a message whose method is no text');
    else if (id === undefined) events.notified(method, params);
    else takeRequest(method, id, params);
  };
  const takeRequest = (method: string, id: unknown, params: unknown): void => {
    requests += 1;
    if (requests > maxRequests) throw new ServerFault(`asked for more than ${maxRequests} things`);
    if (!Number.isSafeInteger(id) && !(typeof id === 'string' && id.length <= 128))
      throw new ServerFault('sent a request whose id is none');
    const result = events.answer(method, params);
    write(
      result === undefined
        ? { id, error: { code: -32601, message: 'this client does not' } }
        : { id, result },
    );
  };
  const takeAnswer = ({ id, error, result }: Readonly<Record<string, unknown>>): void => {
    const waiting = typeof id === 'number' ? open.get(id) : undefined;
    if (waiting === undefined) {
      // Late answers to what was given up are among them.
      strays += 1;
      if (strays > maxStrays) throw new ServerFault('answers a request that was not made');
      return;
    }
    open.delete(id as number);
    if (error !== undefined && error !== null) {
      const message = isRecord(error) && typeof error.message === 'string' ? error.message : 'an error';
      waiting.refused?.(message.slice(0, 500));
      waiting.settle(undefined);
    } else waiting.settle(result ?? null);
  };
  void (async () => {
    try {
      for await (const message of readFrames(output)) take(message);
      end(new ServerFault('ended'));
    } catch (caught) {
      end(caught instanceof ServerFault ? caught : new ServerFault('ended'));
    }
  })();

  return {
    ended,
    end,
    tell: (method, params) => write({ method, params }),
    ask(method, params, withinMs, refused) {
      if (fault) return Promise.reject(fault);
      last += 1;
      const id = last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(
        () => end(new ServerFault(`did not answer within ${withinMs / 1000} s`)),
        withinMs,
      );
      open.set(id, { settle: resolve, fail: reject, refused });
      write({ id, method, params });
      return promise.finally(() => clearTimeout(timer));
    },
  };
}

/** Limits for a server: bytes of one message and its header, messages and bytes in total, nesting depth. */
export const frameBounds = {
  head: 4096,
  message: 16 * 1024 * 1024,
  messages: 200_000,
  octets: 512 * 1024 * 1024,
  depth: 100,
} as const;

/** A fault of a language server. The message completes a sentence that begins with the server's name. */
export class ServerFault extends Error {}

/** A message as it is written to a server. */
export function frame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** The messages of a stream, each an object. ServerFault for what is none, and beyond a bound. */
export async function* readFrames(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let octets = 0;
  let messages = 0;
  /** Octets of the body that is awaited. */
  let wanted: number | undefined;
  for await (const chunk of chunks) {
    octets += chunk.length;
    if (octets > frameBounds.octets) throw new ServerFault(`said more than ${frameBounds.octets} octets`);
    parts.push(chunk);
    held += chunk.length;
    // A large body is put together once.
    if (wanted !== undefined && held < wanted) continue;
    let rest = Buffer.concat(parts);
    for (;;) {
      if (wanted === undefined) {
        const end = rest.indexOf('\r\n\r\n');
        if (end > frameBounds.head || (end === -1 && rest.length > frameBounds.head))
          throw new ServerFault('sent a head without an end');
        if (end === -1) break;
        wanted = lengthIn(rest.toString('latin1', 0, end));
        rest = rest.subarray(end + 4);
      }
      if (rest.length < wanted) break;
      messages += 1;
      if (messages > frameBounds.messages)
        throw new ServerFault(`sent more than ${frameBounds.messages} messages`);
      yield readMessage(rest.subarray(0, wanted));
      rest = rest.subarray(wanted);
      wanted = undefined;
    }
    parts = [rest];
    held = rest.length;
  }
}

function lengthIn(head: string): number {
  const lengths = head
    .split('\r\n')
    .flatMap((line) => /^content-length:[ \t]*(.*?)[ \t]*$/i.exec(line)?.[1] ?? []);
  const [text = ''] = lengths;
  const length = /^[0-9]{1,9}$/.test(text) && lengths.length === 1 ? Number(text) : -1;
  if (length < 0) throw new ServerFault('sent a head without one plain length');
  if (length > frameBounds.message) throw new ServerFault(`sent a message of ${length} octets`);
  return length;
}

function readMessage(body: Buffer): Readonly<Record<string, unknown>> {
  if (isDeeperThan(body, frameBounds.depth))
    throw new ServerFault(`sent a message of more than ${frameBounds.depth} levels`);
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8'));
  } catch {
    throw new ServerFault('sent a message that is not JSON');
  }
  if (!isRecord(message)) throw new ServerFault('sent a message that is no object');
  return message;
}

/** Looked at before it is parsed: what walks it later may recurse. */
function isDeeperThan(body: Buffer, most: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < body.length; at += 1) {
    const one = body[at];
    if (isText) {
      if (one === 0x5c) at += 1;
      else if (one === 0x22) isText = false;
    } else if (one === 0x22) isText = true;
    else if (one === 0x5b || one === 0x7b) {
      depth += 1;
      if (depth > most) return true;
    } else if (one === 0x5d || one === 0x7d) depth -= 1;
  }
  return false;
}
