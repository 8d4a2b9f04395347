/** Reads a stream of chunks by lengths; holds one chunk and the octets that the caller wants. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next octets, which stay; fewer where the stream ends. */
  async peek(length: number): Promise<Buffer> {
    const parts = [this.#held];
    let total = this.#held.length;
    while (total < length) {
      const { value, done } = await this.#chunks.next();
      if (done) break;
      parts.push(value);
      total += value.length;
    }
    if (parts.length > 1) this.#held = Buffer.concat(parts);
    return this.#held.subarray(0, length);
  }

  /** The next octets; fewer where the stream ends. */
  async read(length: number): Promise<Buffer> {
    const bytes = await this.peek(length);
    this.#held = this.#held.subarray(bytes.length);
    return bytes;
  }

  /** Passes the next octets on as they come, and returns how many there were. */
  async consume(length: number, take: (chunk: Buffer) => void): Promise<number> {
    let left = length;
    while (left > 0) {
      if (this.#held.length === 0 && (await this.peek(1)).length === 0) break;
      const chunk = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(chunk.length);
      left -= chunk.length;
      take(chunk);
    }
    return length - left;
  }

  /** Everything that was not read yet. */
  async *rest(): AsyncGenerator<Buffer> {
    if (this.#held.length > 0) yield this.#held;
    this.#held = Buffer.alloc(0);
    for (;;) {
      const { value, done } = await this.#chunks.next();
      if (done) return;
      yield value;
    }
  }
}
