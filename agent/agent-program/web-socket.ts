/* A WebSocket client and a bounded line reader, for talking to agent programs. */
import { hash } from 'node:crypto';
import { randomOctets } from '../../core/base/ids.ts';
import type { AgentPort } from '../../core/interfaces/worker.ts';
import { lineCutter } from '../../workspace/process/capture.ts';

/** What a server that is talked with may do, beyond which it is broken. */
export interface SocketBounds extends LineBounds {
  /** Bytes received but not yet consumed. */
  readonly maxWaitingBytes: number;
}

/** The client side of a WebSocket with text messages. */
export interface WebSocketTalk {
  send(text: string): void;
  /** Ends with the stream; throws `broken` for a protocol violation. Messages are read ahead from the start. */
  readonly messages: AsyncIterable<string>;
}

/** Where the octets of a WebSocket come from and go to. */
interface SocketOctets {
  readonly from: Octets;
  write(octets: Uint8Array): void;
}

const [continuation, text, close, ping, pong] = [0x0, 0x1, 0x8, 0x9, 0xa];
const [maxHeadLine, maxHeadLines, maxControlBytes] = [8192, 100, 125];
const accepted = (key: string): string =>
  hash('sha1', `${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');

/**
 * Opens a WebSocket (RFC 6455) with a bearer token, without extensions or a subprotocol. Throws `broken` if the
 * server refuses or answers incorrectly.
 *
 * The `undici` client is not used: it always offers compression and pushes messages at a busy reader. Limits on total
 * and waiting bytes would still be needed here, and our pipes would have to imitate a socket.
 */
export async function openWebSocket(
  { from, write }: SocketOctets,
  { port, token }: AgentPort,
  bounds: SocketBounds,
  broken: (found: string) => Error,
): Promise<WebSocketTalk> {
  const key = randomOctets(16).toString('base64');
  const head = [
    'GET / HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
    `Authorization: Bearer ${token}`,
  ];
  write(Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'));
  const status = (await from.line(maxHeadLine)) ?? '';
  if (!/^HTTP\/1\.1 101(?: |$)/.test(status))
    throw broken(`no WebSocket at its port: ${status.slice(0, 80) || 'nothing'}`);
  let accept: string | undefined;
  for (let lines = 0; ; lines += 1) {
    const line = lines < maxHeadLines ? await from.line(maxHeadLine) : undefined;
    if (line === undefined) throw broken('an answer without an end at its port');
    if (line === '') break;
    const [, name = '', value = ''] = /^([^:]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name.toLowerCase() === 'sec-websocket-accept') accept = value;
    if (/^sec-websocket-(?:extensions|protocol)$/i.test(name)) throw broken(`\`${name}\` was not asked for`);
  }
  if (accept !== accepted(key)) throw broken('a WebSocket that answers somebody else');
  const send = (kind: number, payload: Buffer): void => write(masked(kind, payload));
  return {
    send: (said) => send(text, Buffer.from(said)),
    messages: readAhead(readMessages(from, bounds, broken, send), bounds, broken),
  };
}

/** A complete client frame, masked with an unpredictable key. */
function masked(kind: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | kind;
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomOctets(4);
  const octets = Buffer.from(payload);
  for (let at = 0; at < length; at += 1) octets[at] = (octets[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return Buffer.concat([head, mask, octets]);
}

async function* readMessages(
  from: Octets,
  { maxLineBytes, maxLines, maxBytes }: LineBounds,
  broken: (found: string) => Error,
  send: (kind: number, payload: Buffer) => void,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: Buffer[] | undefined;
  let [size, all, frames] = [0, 0, 0];
  for (;;) {
    const head = await from.take(2);
    if (head === undefined) return;
    const [first = 0, second = 0] = head;
    const [isLast, kind] = [(first & 0x80) !== 0, first & 0x0f];
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw broken('a frame that no server sends');
    const length = await lengthOf(second & 0x7f, from);
    if (length === undefined) throw broken('half a frame');
    const isControl = kind >= close;
    if (isControl && (!isLast || length > maxControlBytes)) throw broken('a control frame of no form');
    size += isControl ? 0 : length;
    all += 2 + length;
    frames += 1;
    if (size > maxLineBytes) throw broken(`a message of more than ${maxLineBytes} octets`);
    if (all > maxBytes) throw broken(`more than ${maxBytes} octets`);
    if (frames > maxLines) throw broken(`more than ${maxLines} frames`);
    const payload = await from.take(length);
    if (payload === undefined) throw broken('half a frame');
    if (kind === close) throw broken('it closed its connection');
    if (kind === ping) send(pong, payload);
    if (isControl) {
      if (kind > pong) throw broken(`a frame of kind ${kind}`);
      continue;
    }
    if (kind !== (parts === undefined ? text : continuation)) throw broken(`a frame of kind ${kind}`);
    parts ??= [];
    parts.push(payload);
    if (!isLast) continue;
    try {
      yield decoder.decode(Buffer.concat(parts));
    } catch (cause) {
      if (cause instanceof TypeError) throw broken('a text that is none');
      throw cause;
    }
    parts = undefined;
    size = 0;
  }
}

async function lengthOf(short: number, from: Octets): Promise<number | undefined> {
  if (short < 126) return short;
  const more = await from.take(short === 126 ? 2 : 8);
  if (more === undefined) return undefined;
  return short === 126 ? more.readUInt16BE() : Number(more.readBigUInt64BE());
}

/**
 * Codex closes the connection of a client that does not read, and writ does not read while it decides an approval
 * request.
 */
async function* readAhead(
  messages: AsyncIterable<string>,
  { maxWaitingBytes }: SocketBounds,
  broken: (found: string) => Error,
): AsyncGenerator<string, void, undefined> {
  const waiting: string[] = [];
  let size = 0;
  let end: { readonly fault?: unknown } | undefined;
  let wake = (): void => {};
  const read = async (): Promise<void> => {
    for await (const message of messages) {
      waiting.push(message);
      size += message.length;
      if (size > maxWaitingBytes) throw broken(`more than ${maxWaitingBytes} octets that wait`);
      wake();
    }
  };
  read().then(
    () => {
      end = {};
      wake();
    },
    (fault: unknown) => {
      end = { fault };
      wake();
    },
  );
  for (;;) {
    const message = waiting.shift();
    if (message !== undefined) {
      size -= message.length;
      yield message;
    } else if (end !== undefined) {
      if ('fault' in end) throw end.fault;
      return;
    } else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

/** Output limits of a program: characters per line, number of lines, total bytes. */
export interface LineBounds {
  readonly maxLineBytes: number;
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** The lines of a stream, without their ends; what has no end is none. Throws `tooMuch` beyond a bound. */
export async function* boundedLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxLineBytes, maxLines, maxBytes }: LineBounds,
  tooMuch: (found: string) => Error,
): AsyncGenerator<string, void, undefined> {
  const cut = lineCutter(maxLineBytes, () => tooMuch(`a line of more than ${maxLineBytes} octets`));
  let all = 0;
  let lines = 0;
  for await (const chunk of chunks) {
    all += chunk.length;
    if (all > maxBytes) throw tooMuch(`more than ${maxBytes} octets`);
    for (const line of cut(chunk)) {
      lines += 1;
      if (lines > maxLines) throw tooMuch(`more than ${maxLines} lines`);
      yield line.toString('utf8');
    }
  }
}

/** Octets of a stream, in pieces of a wanted size. */
interface Octets {
  /** Exactly so many; `undefined` where the stream ends before. */
  take(count: number): Promise<Buffer | undefined>;
  /** A line without its end (LF, or CR and LF); `undefined` where none ends in the stream, or within `most`. */
  line(most: number): Promise<string | undefined>;
}

export function octetsOf(chunks: AsyncIterable<Uint8Array>): Octets {
  const iterator = chunks[Symbol.asyncIterator]();
  let held: Buffer[] = [];
  let size = 0;
  const more = async (): Promise<boolean> => {
    const next = await iterator.next();
    if (next.done === true) return false;
    held.push(Buffer.from(next.value));
    size += next.value.length;
    return true;
  };
  const take = async (count: number): Promise<Buffer | undefined> => {
    while (size < count) if (!(await more())) return undefined;
    // Put together once, however many pieces it came in.
    const whole = held.length === 1 ? held[0] : Buffer.concat(held);
    const rest = whole?.subarray(count) ?? Buffer.alloc(0);
    held = [rest];
    size = rest.length;
    return whole?.subarray(0, count) ?? Buffer.alloc(0);
  };
  return {
    take,
    async line(most) {
      const found: number[] = [];
      while (found.length < most) {
        const octet = (await take(1))?.[0];
        if (octet === undefined) return undefined;
        if (octet === 0x0a) return Buffer.from(found).toString('latin1').replace(/\r$/, '');
        found.push(octet);
      }
      return undefined;
    },
  };
}
