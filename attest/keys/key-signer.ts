/* Signers over private keys: in memory, in PEM files, and the user's own keys. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { type OwnFiles, ownFiles } from '../../core/kernel/plugin.ts';
import { algorithmOf, keyIdOf } from '../encoding/public-key.ts';
import { type Environment, userKeysDir } from './user-config-dir.ts';

/** A signer over a private key in this process's memory. */
export function toSigner(privateKey: KeyObject, ephemeral: boolean): Signer {
  const publicKey = createPublicKey(privateKey);
  return {
    algorithm: algorithmOf(publicKey),
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ephemeral,
    sign: async (data) => signWith(privateKey, data),
  };
}

/** Returns one signature in the form of {@link Signer.sign}. */
export function signWith(privateKey: KeyObject, data: Uint8Array): Buffer {
  return sign(algorithmOf(privateKey) === 'ed25519' ? null : 'sha256', data, privateKey);
}

/** A new private key. */
export function generateKey(algorithm: Signer['algorithm']): KeyObject {
  return algorithm === 'ed25519'
    ? generateKeyPairSync('ed25519').privateKey
    : generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

/**
 * Reads a private key (PEM), of exactly that algorithm where one is given. KEY_UNUSABLE names `where` it came from,
 * never what was in it.
 */
export function parsePrivateKey(
  pem: string,
  algorithm: Signer['algorithm'] | undefined,
  where: string,
): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The library's reason is left out: it may describe the secret.
    throw new WritError('KEY_UNUSABLE', {
      message: `${where} is not an unencrypted private key in PEM form`,
      detail: { where },
      hints: /-----BEGIN OPENSSH PRIVATE KEY-----/.test(pem)
        ? ['it is an OpenSSH key: use `[signer] key = "ssh:PATH"`, or `"agent"` for one with a passphrase']
        : ['make one: `openssl genpkey -algorithm ed25519 -out KEY.pem && chmod 600 KEY.pem`'],
    });
  }
  const found = algorithmOf(key);
  if (algorithm === undefined || found === algorithm) return key;
  throw new WritError('KEY_UNUSABLE', {
    message: `${where} must be \`${algorithm}\`, found \`${found}\``,
    detail: { where, expected: algorithm, found },
  });
}

/**
 * The key in an existing PEM file, of that algorithm where one is given; KEY_UNUSABLE where there is none, KEY_INSECURE
 * where others can reach it.
 */
export async function openKeyFile(
  path: string,
  algorithm?: Signer['algorithm'],
  files: OwnFiles = ownFiles,
): Promise<Signer> {
  const pem = await files.read(path, true);
  if (pem === undefined) {
    throw new WritError('KEY_UNUSABLE', { message: `there is no key file \`${path}\``, detail: { path } });
  }
  return toSigner(parsePrivateKey(pem, algorithm, `\`${path}\``), false);
}

/**
 * The user's own key in `directory`, made 0600 on first use; processes that race agree on one. Its public key is
 * written beside it and stays trusted after the private key is replaced.
 */
export async function openOwnKey(
  directory: string,
  name: string,
  algorithm: Signer['algorithm'],
): Promise<Signer> {
  const path = join(directory, `${name}.pem`);
  if ((await readGuarded(path, true)) === undefined) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const pem = generateKey(algorithm).export({ type: 'pkcs8', format: 'pem' }).toString();
    await createOnce(path, pem, 0o600);
  }
  const signer = await openKeyFile(path, algorithm);
  await createOnce(publicKeyPath(directory, name, signer), signer.publicKeyPem, 0o644);
  return signer;
}

/** The file beside a key of the user that holds its public key. */
export function publicKeyPath(directory: string, name: string, signer: Pick<Signer, 'keyId'>): string {
  return join(directory, `${name}-${signer.keyId.slice(0, 16)}.pub.pem`);
}

/** This user's signing key (ECDSA P-256), made on first use. */
export function openUserSigningKey(env: Environment): Promise<Signer> {
  return openOwnKey(userKeysDir(env), 'signing', 'ecdsa-p256-sha256');
}

/** Returns this user's signing key if it exists. Never creates one. */
export function findUserSigningKey(env: Environment): Promise<Signer | undefined> {
  return findOwnKey(env, 'signing', 'ecdsa-p256-sha256');
}

/**
 * This user's ledger key (Ed25519), made on first use. It is apart from the signing key so that neither can replace the
 * other.
 */
export function openUserLedgerKey(env: Environment): Promise<Signer> {
  return openOwnKey(userKeysDir(env), 'ledger', 'ed25519');
}

/** Returns this user's ledger key if it exists. Never creates one. */
export function findUserLedgerKey(env: Environment): Promise<Signer | undefined> {
  return findOwnKey(env, 'ledger', 'ed25519');
}

/**
 * Puts the private key of this user's ledgers aside, so that the next use makes a new one. Its public key stays
 * trusted. Returns the new path.
 */
export async function retireUserLedgerKey(
  env: Environment,
  { keyId }: Pick<Signer, 'keyId'>,
): Promise<string> {
  const directory = userKeysDir(env);
  const path = join(directory, `ledger-${keyId.slice(0, 16)}.retired.pem`);
  await rename(join(directory, 'ledger.pem'), path);
  return path;
}

async function findOwnKey(
  env: Environment,
  name: string,
  algorithm: Signer['algorithm'],
): Promise<Signer | undefined> {
  const path = join(userKeysDir(env), `${name}.pem`);
  return (await readGuarded(path, true)) === undefined ? undefined : openKeyFile(path, algorithm);
}

/** Makes a file whole and durable, or leaves the one that is there. */
export async function createOnce(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  const draft = join(dirname(path), `.draft-${randomOctets(8).toString('hex')}`);
  const file = await open(draft, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
  } finally {
    await rm(draft, { force: true });
  }
}
