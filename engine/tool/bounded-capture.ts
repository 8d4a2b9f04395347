import type { CapturedOutput } from '../../core/contract/sandbox.ts';

/**
 * Keeps the first half and the last half of `maxBytes` of a stream and counts the rest. Memory never exceeds `maxBytes`
 * plus one chunk, whatever is pushed.
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
    const tail = this.#tail;
    const parts = [...this.#head];
    if (tail !== undefined) {
      if (this.#tailBytes === this.#tailMax)
        parts.push(tail.subarray(this.#tailAt), tail.subarray(0, this.#tailAt));
      else parts.push(tail.subarray(0, this.#tailBytes));
    }
    const bytes = Buffer.concat(parts);
    return { bytes, totalBytes: this.#total, truncated: this.#total > bytes.length };
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
