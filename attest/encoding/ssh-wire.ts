/* The SSH wire format (RFC 4251, 5) and the public keys in it. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';

/** A public key as SSH writes it (RFC 4253, 6.6; RFC 5656, 3.1; RFC 8709, 4; OpenSSH PROTOCOL.u2f). */
export interface SshPublicKey {
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, `sk-ssh-ed25519@openssh.com`, … */
  readonly type: string;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  readonly key: KeyObject;
  /** Octets of one signature number or of the modulus. */
  readonly size: number;
  /** A security key: what it signs for, e.g. `ssh:`. */
  readonly application?: Buffer;
}

/** Key types with accepted signatures. Other types (`ssh-dss`, certificates) are KEY_UNUSABLE. */
const sshKeyTypes = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
] as const;

const maxModulusBytes = 2048;
const minModulusBits = 2048;
const curves: Readonly<Record<string, { readonly jwk: string; readonly size: number }>> = {
  nistp256: { jwk: 'P-256', size: 32 },
  nistp384: { jwk: 'P-384', size: 48 },
  nistp521: { jwk: 'P-521', size: 66 },
};

/**
 * Reads a key blob; ATTESTATION_MALFORMED where it is none, KEY_UNUSABLE for a kind or strength that does not count.
 */
export function parseSshPublicKey(blob: Uint8Array): SshPublicKey {
  const reader = new WireReader(blob);
  const type = reader.name();
  const parts = readParts(type, reader);
  const application = type.startsWith('sk-') ? reader.string(256) : undefined;
  reader.end();
  return {
    type,
    fingerprint: `SHA256:${sha256(blob).toString('base64').replace(/=+$/, '')}`,
    key: toKey(type, parts.jwk),
    size: parts.size,
    ...(application === undefined ? {} : { application: Buffer.from(application) }),
  };
}

/** The public half of an Ed25519 or P-256 key as SSH writes it. */
export function sshKeyBlob(key: KeyObject): Buffer {
  const { crv, x = '', y = '' } = key.export({ format: 'jwk' });
  const part = (text: string): Buffer => Buffer.from(text, 'base64url');
  if (crv === 'Ed25519') return wireStrings('ssh-ed25519', part(x));
  return wireStrings('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.from([4]), part(x), part(y)]));
}

export function wireStrings(...strings: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(strings.map((string) => wireString(Buffer.from(string as Uint8Array))));
}

function readParts(type: string, reader: WireReader): { readonly jwk: JsonWebKey; readonly size: number } {
  if (type === 'ssh-ed25519' || type === 'sk-ssh-ed25519@openssh.com') {
    const point = reader.string(32);
    return { jwk: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, size: 32 };
  }
  if (type === 'ssh-rsa') return readRsa(type, reader);
  const named = /^(?:sk-)?ecdsa-sha2-(nistp(?:256|384|521))(?:@openssh\.com)?$/.exec(type)?.[1];
  const curve = (sshKeyTypes as readonly string[]).includes(type) ? curves[named ?? ''] : undefined;
  if (curve === undefined || reader.name() !== named) throw unusable(type, 'that kind of key');
  const point = reader.string(1 + 2 * curve.size);
  if (point.length !== 1 + 2 * curve.size || point[0] !== 4)
    throw unusable(type, 'a point that is not uncompressed');
  const x = point.subarray(1, 1 + curve.size).toString('base64url');
  const y = point.subarray(1 + curve.size).toString('base64url');
  return { jwk: { kty: 'EC', crv: curve.jwk, x, y }, size: curve.size };
}

function readRsa(type: string, reader: WireReader): { readonly jwk: JsonWebKey; readonly size: number } {
  const e = reader.positive(8);
  const n = reader.positive(maxModulusBytes);
  const bits = n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
  if (bits < minModulusBits) throw unusable(type, `${bits} bits where ${minModulusBits} are the least`);
  const isOdd = ((e.at(-1) ?? 0) & 1) === 1 && ((n.at(-1) ?? 0) & 1) === 1;
  if (!isOdd || (e.length === 1 && e[0] === 1)) throw unusable(type, 'an exponent or modulus that is none');
  return { jwk: { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') }, size: n.length };
}

function toKey(type: string, jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch (cause) {
    throw unusable(type, 'a point that is not on its curve', cause);
  }
}

function unusable(type: string, found: string, cause?: unknown): WritError {
  return new WritError('KEY_UNUSABLE', {
    message: `expected a usable SSH key, found ${found} (\`${type.slice(0, 64)}\`)`,
    detail: { type: type.slice(0, 64), found, accepted: sshKeyTypes },
    cause,
  });
}

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

  /** The magnitude of a positive mpint, big-endian, without leading zeros; only its shortest form is accepted. */
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

/** Octets with their length before them, as SSH writes a string (RFC 4251, 5). */
export function wireString(octets: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(octets.length);
  return Buffer.concat([length, octets]);
}
