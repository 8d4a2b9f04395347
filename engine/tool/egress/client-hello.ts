/** What the first flight of a TLS client says about the host it wants; `more`: it is not complete yet. */
export type HelloReading =
  | { readonly kind: 'more' }
  | { readonly kind: 'not-tls' }
  | { readonly kind: 'hello'; readonly serverName: string | undefined; readonly isEncrypted: boolean };

/** Most octets of a ClientHello with its record headers. */
export const maxHelloBytes = 16_384;

const [handshakeRecord, clientHello, serverNameExtension, hostName] = [22, 1, 0, 0];
/** Encrypted ClientHello (RFC 9849) and its draft before, encrypted SNI: the outer name says nothing then. */
const encryptedExtensions = [0xfe0d, 0xffce];

/**
 * Reads a ClientHello (RFC 8446, 4.1.2), which may span records. Anything not exactly one, or longer than
 * `maxHelloBytes`, is `not-tls`.
 */
export function readClientHello(bytes: Buffer): HelloReading {
  const message: Buffer[] = [];
  let length = 0;
  for (let at = 0; ; ) {
    if (bytes.length > at && bytes[at] !== handshakeRecord) return { kind: 'not-tls' };
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return { kind: 'not-tls' };
    if (bytes.length < at + 5) break;
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > maxHelloBytes) return { kind: 'not-tls' };
    const fragment = bytes.subarray(at + 5, at + 5 + size);
    message.push(fragment);
    length += fragment.length;
    const whole = Buffer.concat(message);
    if (whole.length > 0 && whole[0] !== clientHello) return { kind: 'not-tls' };
    if (whole.length >= 4) {
      const wanted = 4 + whole.readUIntBE(1, 3);
      if (wanted > maxHelloBytes) return { kind: 'not-tls' };
      if (length >= wanted) return readBody(whole.subarray(4, wanted));
    }
    if (fragment.length < size) break;
    at += 5 + size;
  }
  return bytes.length >= maxHelloBytes ? { kind: 'not-tls' } : { kind: 'more' };
}

function readBody(body: Buffer): HelloReading {
  const outer = new Vectors(body);
  outer.skip(34);
  outer.vector(1);
  outer.vector(2);
  outer.vector(1);
  const extensions = new Vectors(outer.atEnd ? Buffer.alloc(0) : outer.vector(2));
  const seen = new Set<number>();
  let serverName: string | undefined;
  while (!extensions.atEnd && !extensions.broken) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (seen.has(type)) return { kind: 'not-tls' };
    seen.add(type);
    if (type !== serverNameExtension) continue;
    const names = new Vectors(content);
    const list = new Vectors(names.vector(2));
    const isHostName = list.number(1) === hostName;
    const name = list.vector(2);
    if (!isHostName || !list.atEnd || !names.atEnd || list.broken || names.broken) return { kind: 'not-tls' };
    serverName = name.toString('latin1').toLowerCase();
  }
  if (outer.broken || extensions.broken || !outer.atEnd) return { kind: 'not-tls' };
  return { kind: 'hello', serverName, isEncrypted: encryptedExtensions.some((type) => seen.has(type)) };
}

/** Reads length-prefixed fields; once one does not fit it is `broken` and everything read is empty. */
class Vectors {
  readonly #bytes: Buffer;
  #at = 0;
  broken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(count: number): void {
    this.#take(count);
  }

  number(size: number): number {
    const octets = this.#take(size);
    return octets.length === size ? octets.readUIntBE(0, size) : -1;
  }

  vector(lengthSize: number): Buffer {
    return this.#take(Math.max(0, this.number(lengthSize)));
  }

  #take(count: number): Buffer {
    if (this.broken || this.#at + count > this.#bytes.length) {
      this.broken = true;
      return Buffer.alloc(0);
    }
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}
