import { join } from 'node:path';
import { readGuarded } from '../../core/base/files.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { openKeyFile, openOwnKey } from './file-key.ts';
import type { Environment } from './user-config-dir.ts';
import { userKeysDir } from './user-keys-dir.ts';

/** This user's signing key (ECDSA P-256), made on first use. */
export function openUserSigningKey(env: Environment): Promise<Signer> {
  return openOwnKey(userKeysDir(env), 'signing', 'ecdsa-p256-sha256');
}

/** This user's signing key if there is one; nothing is made. */
export function findUserSigningKey(env: Environment): Promise<Signer | undefined> {
  return findOwnKey(env, 'signing', 'ecdsa-p256-sha256');
}

/** This user's ledger key (Ed25519), made on first use; kept apart so that neither can stand in for the other. */
export function openUserLedgerKey(env: Environment): Promise<Signer> {
  return openOwnKey(userKeysDir(env), 'ledger', 'ed25519');
}

/** This user's ledger key if there is one; nothing is made. */
export function findUserLedgerKey(env: Environment): Promise<Signer | undefined> {
  return findOwnKey(env, 'ledger', 'ed25519');
}

async function findOwnKey(
  env: Environment,
  name: string,
  algorithm: Signer['algorithm'],
): Promise<Signer | undefined> {
  const path = join(userKeysDir(env), `${name}.pem`);
  return (await readGuarded(path, true)) === undefined ? undefined : openKeyFile(path, algorithm);
}
