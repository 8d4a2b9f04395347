/* Reads JSON frames and lines of a vendor's answer within limits, and the arguments of tool calls in it. */
import { setTimeout as wait } from 'node:timers/promises';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { brokenReply, type Json, objectIn, type ReplyProgress, SaidFailureError } from './wire-format.ts';

/** Nested objects and arrays: deeper ones could not be read again from what a run writes down. */
const maxDepth = 48;
/** Values of one frame: each costs far more memory than the two or three octets that it came in. */
const maxValues = 200_000;

/** A vendor's JSON, bounded before it is parsed. Throws `brokenReply`. */
export function readFrame(text: string): unknown {
  const fault = faultOf(text);
  if (fault !== undefined) throw brokenReply(fault);
  try {
    return JSON.parse(text);
  } catch {
    throw brokenReply(`expected JSON, found ${JSON.stringify(text.slice(0, 80))}`);
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** What makes a text too much to parse; linear, and right for every text that is JSON. */
function faultOf(text: string): string | undefined {
  if (text.length <= maxDepth) return undefined;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === comma) {
      values += 1;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return `expected JSON of at most ${maxDepth} levels, found a deeper one`;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
    if (values > maxValues) return `expected JSON of at most ${maxValues} values, found more`;
  }
  return undefined;
}

/** Where the string that begins at `start` ends: at its quote, or with the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const end = text.indexOf('"', at);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}

/**
 * Lines of text, however its octets are cut, the last one with or without its end. INPUT_TOO_LARGE for a longer line.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let parts: string[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(first);
    size += first.length;
    for (const next of rest) {
      yield parts.join('');
      parts = [next];
      size = next.length;
    }
    if (size > maxBytes)
      throw new WritError('INPUT_TOO_LARGE', {
        message: `expected lines of at most ${maxBytes} characters, found a longer one`,
        detail: { maxBytes },
      });
  }
  const last = parts.join('') + decoder.decode();
  if (last !== '') yield last;
}

/** A reply that is `ending` may still be followed by its counts; of one that is `whole`, only the close is awaited. */
const quietMs = { ending: 3000, whole: 250 };

/**
 * The pieces of `body` until it ends, or until no frame has come for a while after the end of the reply: some gateways
 * keep the connection open. A connection that breaks after the end of the reply is ignored. `progress` is read before
 * each piece; its `frames` counts frames, without comments that keep a connection alive.
 */
export async function* untilQuiet(
  body: AsyncIterable<Uint8Array>,
  progress: () => { readonly is: ReplyProgress; readonly frames: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const over = new AbortController();
  let since = '';
  let quiet: Promise<undefined> | undefined;
  try {
    for (;;) {
      const { is, frames } = progress();
      const next = pieces.next().catch((fault: unknown) => {
        signal.throwIfAborted();
        if (progress().is !== 'begun' && isWritError(fault, 'NETWORK_FAILED')) return undefined;
        throw fault;
      });
      if (is !== 'begun' && since !== `${is} ${frames}`) {
        since = `${is} ${frames}`;
        quiet = wait(quietMs[is], undefined, { signal: over.signal }).catch(() => undefined);
      }
      const piece = await (quiet === undefined ? next : Promise.race([next, quiet]));
      if (piece === undefined || piece.done) {
        // A piece that comes too late is the disposed connection's.
        next.catch(() => {});
        return;
      }
      yield piece.value;
    }
  } finally {
    over.abort();
  }
}

/**
 * Converts a call's arguments for a vendor that requires an object and otherwise refuses the conversation. Any other
 * value is placed under `malformed`.
 */
export function argumentsAsObject(given: string): Json {
  const value = jsonIn(given);
  return objectIn(value) ?? { malformed: value ?? given };
}

/**
 * `argumentsAsObject` for a vendor that has them as text: some servers (vLLM, llama-server) parse the text again and
 * refuse every later request if it is no JSON object. An object stays as the model wrote it.
 */
export function argumentsAsText(given: string): string {
  return objectIn(jsonIn(given)) === undefined ? JSON.stringify(argumentsAsObject(given)) : given;
}

/** Parses the JSON that a model wrote; `undefined` if it is not JSON, or larger than a frame. */
export function jsonIn(given: string): unknown {
  try {
    return readFrame(given);
  } catch (fault) {
    if (fault instanceof SaidFailureError) return undefined;
    throw fault;
  }
}
