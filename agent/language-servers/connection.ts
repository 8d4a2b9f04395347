/* Exchanges LSP messages with a language server or with an editor, within limits. */
import { isRecord } from '../../core/base/json-pointer.ts';
import type { SandboxPipes } from '../../core/interfaces/sandbox.ts';

/**
 * A conversation with one process of a language server, or with an editor. Every failure of it is a ServerFault, and
 * ends it.
 */
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

/** Notifications and requests that the peer sends. */
interface PeerEvents {
  /** A ServerFault that it throws ends the conversation. */
  notified(method: string, params: unknown): void;
  /** Returns the answer to a request of the peer; `undefined` if the method is unknown. Throws RequestFault. */
  answer(method: string, params: unknown): unknown;
}

/** Why a request is refused; `code` is one of JSON-RPC or LSP. */
export class RequestFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Open {
  readonly settle: (answer: unknown) => void;
  readonly fail: (fault: ServerFault) => void;
  readonly refused: ((message: string) => void) | undefined;
}

/** Maximum number of answers without a request. */
const maxStrays = 1000;

/** Opens a conversation over the pipes of a process. */
export function openConnection(
  { input, output }: SandboxPipes,
  events: PeerEvents,
  bounds: FrameBounds = frameBounds,
): Connection {
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
    if (requests > bounds.requests) throw new ServerFault(`asked for more than ${bounds.requests} things`);
    if (!Number.isSafeInteger(id) && !(typeof id === 'string' && id.length <= 128))
      throw new ServerFault('sent a request whose id is none');
    try {
      const result = events.answer(method, params);
      if (result === undefined) throw new RequestFault(-32601, 'there is no such method here');
      write({ id, result });
    } catch (fault) {
      if (!(fault instanceof RequestFault)) throw fault;
      write({ id, error: { code: fault.code, message: fault.message } });
    }
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
      for await (const message of readFrames(output, bounds)) take(message);
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

/** Limits for a server: bytes of one message and its header; messages, requests and bytes in total; nesting depth. */
export const frameBounds = {
  head: 4096,
  message: 16 * 1024 * 1024,
  messages: 200_000,
  requests: 10_000,
  octets: 512 * 1024 * 1024,
  depth: 100,
};

export type FrameBounds = Readonly<typeof frameBounds>;

/** A fault of the peer. The message completes a sentence that begins with the peer's name. */
export class ServerFault extends Error {}

/** A message as it is written to a server. */
export function frame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** The messages of a stream, each an object. ServerFault for what is none, and beyond a bound. */
export async function* readFrames(
  chunks: AsyncIterable<Uint8Array>,
  bounds: FrameBounds = frameBounds,
): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let octets = 0;
  let messages = 0;
  /** Octets of the body that is awaited. */
  let wanted: number | undefined;
  for await (const chunk of chunks) {
    octets += chunk.length;
    if (octets > bounds.octets) throw new ServerFault(`said more than ${bounds.octets} octets`);
    parts.push(chunk);
    held += chunk.length;
    // A large body is put together once.
    if (wanted !== undefined && held < wanted) continue;
    let rest = Buffer.concat(parts);
    for (;;) {
      if (wanted === undefined) {
        const end = rest.indexOf('\r\n\r\n');
        if (end > bounds.head || (end === -1 && rest.length > bounds.head))
          throw new ServerFault('sent a head without an end');
        if (end === -1) break;
        wanted = lengthIn(rest.toString('latin1', 0, end), bounds);
        rest = rest.subarray(end + 4);
      }
      if (rest.length < wanted) break;
      messages += 1;
      if (messages > bounds.messages) throw new ServerFault(`sent more than ${bounds.messages} messages`);
      yield readMessage(rest.subarray(0, wanted), bounds);
      rest = rest.subarray(wanted);
      wanted = undefined;
    }
    parts = [rest];
    held = rest.length;
  }
}

function lengthIn(head: string, bounds: FrameBounds): number {
  const lengths = head
    .split('\r\n')
    .flatMap((line) => /^content-length:[ \t]*(.*?)[ \t]*$/i.exec(line)?.[1] ?? []);
  const [text = ''] = lengths;
  const length = /^[0-9]{1,9}$/.test(text) && lengths.length === 1 ? Number(text) : -1;
  if (length < 0) throw new ServerFault('sent a head without one plain length');
  if (length > bounds.message) throw new ServerFault(`sent a message of ${length} octets`);
  return length;
}

function readMessage(body: Buffer, bounds: FrameBounds): Readonly<Record<string, unknown>> {
  if (isDeeperThan(body, bounds.depth))
    throw new ServerFault(`sent a message of more than ${bounds.depth} levels`);
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
