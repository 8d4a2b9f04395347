import { WritError } from '../../core/base/errors.ts';

/**
 * Reads the SSH wire format (RFC 4251, 5) front to back. What is short, too long or left over is ATTESTATION_MALFORMED.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length)
      throw malformed(`${length} octets`, `${this.#bytes.length - this.#at} octets`);
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  uint32(): number {
    return this.take(4).readUInt32BE();
  }

  string(maxBytes: number): Buffer {
    const length = this.uint32();
    if (length > maxBytes) throw malformed(`a string of at most ${maxBytes} octets`, `${length} octets`);
    return this.take(length);
  }

  /** A string of visible ASCII, as names are. */
  name(): string {
    const name = this.string(256).toString('latin1');
    if (!/^[!-~]*$/.test(name)) throw malformed('a name of visible ASCII', 'other octets');
    return name;
  }

  /** The magnitude of a positive mpint, big-endian, without leading zeros; only its one shortest form is taken. */
  positive(maxBytes: number): Buffer {
    const octets = this.string(maxBytes + 1);
    const [first = 0, second = 0] = octets;
    const isShortest = octets.length > 0 && first < 0x80 && (first !== 0 || second >= 0x80);
    const magnitude = octets.subarray(first === 0 ? 1 : 0);
    if (!isShortest || magnitude.length > maxBytes)
      throw malformed('a positive number in its shortest form', 'another');
    return magnitude;
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw malformed('the end', `${left} more octets`);
  }
}

function malformed(expected: string, found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${expected} in the SSH data, found ${found}`,
    detail: { expected, found },
  });
}
