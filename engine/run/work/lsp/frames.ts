/** What a server may say: octets of one message and of its head, messages and octets in all, levels of nesting. */
export const frameBounds = {
  head: 4096,
  message: 16 * 1024 * 1024,
  messages: 200_000,
  octets: 512 * 1024 * 1024,
  depth: 100,
} as const;

/** What is wrong with what a server says or does, in words that end a sentence about it. */
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

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
