/* Captures output within limits, and cuts it into lines. */
import type { CapturedOutput } from '../../core/interfaces/sandbox.ts';

/** Octets of each half, where something is left out between them, in which a word is not cut in two. */
const seamBytes = 4096;

/**
 * Keeps the first half and the last half of `maxBytes` of a stream and counts the rest. If bytes are omitted, both
 * halves end at whole lines, because masking cannot detect half a secret. Memory never exceeds `maxBytes` plus one
 * chunk, for any input.
 */
export class BoundedCapture {
  readonly #headMax: number;
  readonly #tailMax: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer | undefined;
  #tailBytes = 0;
  #tailAt = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#headMax = Math.ceil(maxBytes / 2);
    this.#tailMax = Math.floor(maxBytes / 2);
  }

  get totalBytes(): number {
    return this.#total;
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length;
    const room = this.#headMax - this.#headBytes;
    if (room > 0) {
      // Copied: a short slice would keep the whole pooled read buffer alive.
      const kept = Buffer.from(chunk.subarray(0, room));
      this.#head.push(kept);
      this.#headBytes += kept.length;
    }
    if (chunk.length > Math.max(room, 0)) this.#pushTail(chunk.subarray(Math.max(room, 0)));
  }

  finish(): CapturedOutput {
    const head = Buffer.concat(this.#head);
    const tail = this.#tailInOrder();
    const isWhole = this.#total === head.length + tail.length;
    const bytes = Buffer.concat(isWhole ? [head, tail] : [upToSeam(head), behindSeam(tail)]);
    return { bytes, totalBytes: this.#total, truncated: !isWhole };
  }

  #tailInOrder(): Buffer {
    const tail = this.#tail;
    if (tail === undefined) return Buffer.alloc(0);
    if (this.#tailBytes < this.#tailMax) return tail.subarray(0, this.#tailBytes);
    return Buffer.concat([tail.subarray(this.#tailAt), tail.subarray(0, this.#tailAt)]);
  }

  #pushTail(chunk: Uint8Array): void {
    if (this.#tailMax === 0) return;
    this.#tail ??= Buffer.allocUnsafe(this.#tailMax);
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#tailMax));
    const first = Math.min(kept.length, this.#tailMax - this.#tailAt);
    this.#tail.set(kept.subarray(0, first), this.#tailAt);
    this.#tail.set(kept.subarray(first), 0);
    this.#tailAt = (this.#tailAt + kept.length) % this.#tailMax;
    this.#tailBytes = Math.min(this.#tailMax, this.#tailBytes + kept.length);
  }
}

/** Cut positions by preference: the end of a line, the end of a word, any character that is not part of a token. */
const borders = [/\n/, /[\s"']/, /[^\w+/=.~-]/];

function upToSeam(head: Buffer): Buffer {
  const least = head.length - Math.min(seamBytes, head.length >> 1);
  const end = head.toString('latin1', least);
  const found = borders.map((border) => lastOf(border, end)).find((at) => at >= 0);
  return head.subarray(0, least + (found ?? -1) + 1);
}

function behindSeam(tail: Buffer): Buffer {
  const most = Math.min(seamBytes, tail.length >> 1);
  const begin = tail.toString('latin1', 0, most);
  const found = borders.map((border) => begin.search(border)).find((at) => at >= 0);
  return tail.subarray(found === undefined ? most : found + 1);
}

function lastOf(border: RegExp, text: string): number {
  for (let at = text.length - 1; at >= 0; at -= 1) if (border.test(text.charAt(at))) return at;
  return -1;
}

/**
 * Cuts the chunks of one stream into lines, without their ends. Throws what `tooLong` makes for one of more than
 * `maxBytes`, and for what has grown beyond that without an end.
 */
export function lineCutter(
  maxBytes: number,
  tooLong: () => Error,
): (chunk: Uint8Array) => Generator<Buffer, void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  const hold = (part: Uint8Array): void => {
    held += part.length;
    if (held > maxBytes) throw tooLong();
    parts.push(part);
  };
  return function* cut(chunk) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      hold(chunk.subarray(from, end));
      const line = Buffer.concat(parts);
      [parts, held, from] = [[], 0, end + 1];
      yield line;
    }
    // The sender may reuse the chunk's memory.
    if (from < chunk.length) hold(Uint8Array.from(chunk.subarray(from)));
  };
}

const tickMs = 250;
const maxTicks = 40;

/**
 * Calls `act` when no data has arrived for one tick, or after ten seconds. The caller clears the timer. For output
 * that a descendant outside the group keeps open after its leader has ended. Between two ticks the event loop has
 * read all available data. So after a tick without progress, no process writes any more.
 */
export function whenQuiet(progress: () => number, act: () => void): NodeJS.Timeout {
  let seen = -1;
  let ticks = 0;
  return setInterval(() => {
    const now = progress();
    ticks += 1;
    if (now === seen || ticks > maxTicks) act();
    seen = now;
  }, tickMs);
}
