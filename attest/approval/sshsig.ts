/* SSH signatures as `ssh-keygen -Y sign` makes them (OpenSSH PROTOCOL.sshsig): reads, verifies and makes them. */
import { hash, verify } from 'node:crypto';
import { sha256 } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseBase64 } from '../encoding/expect-json.ts';
import { parseSshPublicKey, type SshPublicKey, WireReader, wireStrings } from '../encoding/ssh-wire.ts';

/**
 * What an approval is signed as: a signature made for anything else (git, a file, another product) never counts as one.
 */
export const approvalNamespace = 'writ-approval@v1';

/** A signature as `ssh-keygen -Y sign` makes it, read and not yet verified (OpenSSH PROTOCOL.sshsig). */
export interface SshSignature {
  readonly key: SshPublicKey;
  readonly namespace: string;
  readonly hash: 'sha256' | 'sha512';
  /** SSH signature blob. */
  readonly signature: Buffer;
}

const magic = Buffer.from('SSHSIG');
const keyType = 'ssh-ed25519';
const maxArmoredLength = 16_384;
const armor = /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+?)\r?\n-----END SSH SIGNATURE-----\s*$/;

/** Reads an armoured signature: ATTESTATION_MALFORMED, or KEY_UNUSABLE for a key that does not count. */
export function parseSshSignature(text: string): SshSignature {
  const body = text.length > maxArmoredLength ? undefined : armor.exec(text)?.[1];
  const blob = body === undefined ? undefined : parseBase64(body.replace(/[\r\n]/g, ''));
  if (blob === undefined)
    throw malformed('a signature between `-----BEGIN SSH SIGNATURE-----` and its end', 'other text');
  const reader = new WireReader(blob);
  if (!reader.take(magic.length).equals(magic)) throw malformed('the magic `SSHSIG`', 'another');
  const version = reader.uint32();
  if (version !== 1) throw malformed('version 1', `version ${version}`);
  const key = parseSshPublicKey(reader.string(8192));
  const namespace = reader.name();
  // Reserved: signed as empty by every signer there is, so anything in it was put there afterwards.
  reader.string(0);
  const algorithm = reader.name();
  if (algorithm !== 'sha256' && algorithm !== 'sha512')
    throw malformed('the hash sha256 or sha512', `\`${algorithm.slice(0, 32)}\``);
  const signature = reader.string(8192);
  reader.end();
  return { key, namespace, hash: algorithm, signature };
}

/** Why a signature does not vouch for `message` in `namespace`; `undefined` where it does. */
export function refuteSshSignature(
  signature: SshSignature,
  namespace: string,
  message: Uint8Array,
): { readonly status: 'wrong-namespace' | 'bad-signature'; readonly detail: string } | undefined {
  if (signature.namespace !== namespace) {
    return {
      status: 'wrong-namespace',
      detail: `expected the namespace \`${namespace}\`, found \`${signature.namespace}\``,
    };
  }
  let why: string | undefined;
  try {
    why = whyNotSigned(signature.key, signedData(signature, message), signature.signature);
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    why = fault.message;
  }
  return why === undefined ? undefined : { status: 'bad-signature', detail: why };
}

/** An armoured signature by an Ed25519 key (its blob, and what signs with it), as `ssh-keygen -Y sign` makes it. */
export async function signSsh(
  blob: Uint8Array,
  sign: (data: Uint8Array) => Promise<Uint8Array>,
  namespace: string,
  message: Uint8Array,
): Promise<string> {
  const signature = await sign(signedData({ namespace, hash: 'sha512' }, message));
  const version = Buffer.from([0, 0, 0, 1]);
  const strings = wireStrings(blob, namespace, '', 'sha512', wireStrings(keyType, signature));
  const lines =
    Buffer.concat([magic, version, strings])
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}

function signedData(
  { namespace, hash: algorithm }: Pick<SshSignature, 'namespace' | 'hash'>,
  message: Uint8Array,
): Buffer {
  return Buffer.concat([magic, wireStrings(namespace, '', algorithm, hash(algorithm, message, 'buffer'))]);
}

function malformed(expected: string, found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `expected ${expected} in the SSH signature, found ${found}`,
    detail: { expected, found },
  });
}

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
 * Returns why `signature` (an SSH signature blob) is not the key's over `data`; `undefined` where it is. SHA-1
 * (`ssh-rsa`), another algorithm than the key's, and a security key without a touch are refused. ATTESTATION_MALFORMED
 * for other data.
 */
function whyNotSigned(key: SshPublicKey, data: Uint8Array, signature: Uint8Array): string | undefined {
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
