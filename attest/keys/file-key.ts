import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { type OwnFiles, ownFiles } from '../../core/kernel/plugin.ts';
import { createOnce } from './create-once.ts';
import { generateKey, parsePrivateKey, toSigner } from './key-signer.ts';

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
 * The user's own key in `directory`, made 0600 on first use; processes that race agree on one. Beside it stands
 * its public key, so that it is still trusted after the private one is replaced.
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

function publicKeyPath(directory: string, name: string, signer: Signer): string {
  return join(directory, `${name}-${signer.keyId.slice(0, 16)}.pub.pem`);
}
