import { verify } from 'node:crypto';
import { sha256 } from '../../core/base/digest.ts';
import type { SshPublicKey } from '../encoding/ssh-public-key.ts';
import { WireReader } from '../encoding/wire-reader.ts';

/** The security key saw a touch (OpenSSH PROTOCOL.u2f, `SSH_SK_USER_PRESENCE_REQD`). */
const userPresent = 0x01;

const hashOf: Readonly<Record<string, string>> = {
  'rsa-sha2-256': 'sha256',
  'rsa-sha2-512': 'sha512',
  'ecdsa-sha2-nistp256': 'sha256',
  'ecdsa-sha2-nistp384': 'sha384',
  'ecdsa-sha2-nistp521': 'sha512',
  'sk-ecdsa-sha2-nistp256@openssh.com': 'sha256',
};

/**
 * Why `signature` (an SSH signature blob) is not the key's over `data`; `undefined` where it is. SHA-1 (`ssh-rsa`),
 * another algorithm than the key's and a security key that nobody touched are refused. ATTESTATION_MALFORMED for what
 * is no signature blob.
 */
export function whyNotSigned(key: SshPublicKey, data: Uint8Array, signature: Uint8Array): string | undefined {
  const reader = new WireReader(signature);
  const algorithm = reader.name();
  const own = key.type === 'ssh-rsa' ? ['rsa-sha2-256', 'rsa-sha2-512'] : [key.type];
  if (!own.includes(algorithm))
    return `expected the algorithm ${own.join(' or ')}, found \`${algorithm.slice(0, 64)}\``;
  const octets = reader.string(4096);
  if (key.application === undefined) {
    reader.end();
    return fits(key, algorithm, data, octets) ? undefined : 'the signature does not fit';
  }
  const state = reader.take(5);
  reader.end();
  const signed = Buffer.concat([sha256(key.application), state, sha256(data)]);
  if (!fits(key, algorithm, signed, octets)) return 'the signature does not fit';
  return ((state[0] ?? 0) & userPresent) === 0 ? 'the security key was not touched' : undefined;
}

function fits(key: SshPublicKey, algorithm: string, data: Uint8Array, octets: Buffer): boolean {
  const hash = hashOf[algorithm];
  if (hash === undefined) return octets.length === 64 && verify(null, data, key.key, octets);
  if (algorithm.startsWith('rsa-')) {
    // RFC 8332, 3: a signer may leave leading zeros out.
    if (octets.length > key.size) return false;
    return verify(hash, data, key.key, Buffer.concat([Buffer.alloc(key.size - octets.length), octets]));
  }
  const numbers = new WireReader(octets);
  const pair = [numbers.positive(key.size), numbers.positive(key.size)];
  numbers.end();
  const padded = pair.map((number) => Buffer.concat([Buffer.alloc(key.size - number.length), number]));
  return verify(hash, data, { key: key.key, dsaEncoding: 'ieee-p1363' }, Buffer.concat(padded));
}
