/* Reads OpenSSH private key files without passphrase. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { type OwnFiles, ownFiles } from '../../core/kernel/plugin.ts';
import { parseBase64 } from '../encoding/expect-json.ts';
import { isSignedBy, keyIdOf } from '../encoding/public-key.ts';
import { parseSshPublicKey, WireReader } from '../encoding/ssh-wire.ts';
import { signWith, toSigner } from './key-signer.ts';

const armour =
  /^-----BEGIN OPENSSH PRIVATE KEY-----\r?\n([A-Za-z0-9+/=\r\n]+?)\r?\n-----END OPENSSH PRIVATE KEY-----\s*$/;
const magic = 'openssh-key-v1\0';

/**
 * Opens the Ed25519 or ECDSA P-256 key in an OpenSSH private key file without a passphrase.
 *
 * Throws KEY_INSECURE if other users can access the file. Throws KEY_UNUSABLE for a key with a passphrase, a key of
 * another type, or a public half that does not match the private half. Error messages never repeat file content.
 */
export async function openSshKeyFile(path: string, files: OwnFiles = ownFiles): Promise<Signer> {
  const text = await files.read(path, true);
  if (text === undefined) throw unusable(path, 'there is no such file', []);
  const body = armour.exec(text)?.[1];
  const blob = body === undefined ? undefined : parseBase64(body.replace(/[\r\n]/g, ''));
  if (blob === undefined) {
    const isPem = /^\s*-----BEGIN (?:EC )?PRIVATE KEY-----/.test(text);
    throw unusable(
      path,
      'it is no OpenSSH private key',
      isPem ? [`it is PEM: use \`[signer] key = "file:${path}"\``] : ['make one: `ssh-keygen -t ed25519`'],
    );
  }
  try {
    return toSigner(readPrivateKey(blob, path), false);
  } catch (fault) {
    if (isWritError(fault, 'KEY_UNUSABLE')) throw fault;
    // The reader's reason is left out: it may describe the secret.
    throw unusable(path, 'it is damaged', ['make sure that it is the whole file that `ssh-keygen` wrote']);
  }
}

function readPrivateKey(blob: Buffer, path: string): KeyObject {
  const reader = new WireReader(blob);
  if (reader.take(magic.length).toString('latin1') !== magic)
    throw unusable(path, 'it is of another format', []);
  const cipher = reader.name();
  reader.name();
  reader.string(1024);
  if (cipher !== 'none')
    throw unusable(path, `it has a passphrase (\`${cipher.slice(0, 64)}\`)`, [
      `let the agent hold it: \`ssh-add ${path}\`, then \`[signer] key = "agent"\``,
    ]);
  if (reader.uint32() !== 1) throw unusable(path, 'it holds more than one key', []);
  const stated = parseSshPublicKey(reader.string(8192));
  const secret = new WireReader(reader.string(8192));
  reader.end();
  if (!secret.take(4).equals(secret.take(4))) throw unusable(path, 'it is damaged', []);
  const type = secret.name();
  const jwk = readJwk(type, secret);
  if (jwk === undefined || type !== stated.type)
    throw unusable(path, `it is \`${type.slice(0, 64)}\`, expected ssh-ed25519 or ecdsa-sha2-nistp256`, [
      'make one: `ssh-keygen -t ed25519`',
    ]);
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  const trial = Buffer.from('writ');
  // Halves of two keys would sign what their stated public key never verifies.
  const isWhole =
    keyIdOf(createPublicKey(key)) === keyIdOf(stated.key) &&
    isSignedBy(stated.key, trial, signWith(key, trial));
  if (!isWhole) throw unusable(path, 'its halves are not of one key', []);
  return key;
}

function readJwk(type: string, secret: WireReader): JsonWebKey | undefined {
  const url = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');
  if (type === 'ssh-ed25519') {
    const x = secret.string(32);
    const pair = secret.string(64);
    return { kty: 'OKP', crv: 'Ed25519', x: url(x), d: url(pair.subarray(0, 32)) };
  }
  if (type !== 'ecdsa-sha2-nistp256' || secret.name() !== 'nistp256') return undefined;
  const point = secret.string(65);
  const number = secret.positive(32);
  const d = Buffer.concat([Buffer.alloc(32 - number.length), number]);
  return { kty: 'EC', crv: 'P-256', x: url(point.subarray(1, 33)), y: url(point.subarray(33)), d: url(d) };
}

function unusable(path: string, found: string, hints: readonly string[]): WritError {
  return new WritError('KEY_UNUSABLE', {
    message: `the key file \`${path}\` cannot be used: ${found}`,
    detail: { path, found },
    hints,
  });
}
