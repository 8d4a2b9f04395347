import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createOnce } from '../../attest/keys/create-once.ts';
import { isDraft, writeDurably } from '../../core/base/durable-file.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/guarded-file.ts';
import { findDirectory, makeDirectories } from '../../core/base/plain-place.ts';
import { acquireProcessLock } from '../../engine/tool/process/process-lock.ts';
import { decryptText, encryptText, makeIdentity } from './age-text.ts';
import type { VaultPlace } from './vault-place.ts';
import { formatSecrets, maxVaultBytes, parseSecrets, type Secrets } from './vault-text.ts';

/** Writers of one vault wait for each other; each is done in milliseconds. */
const waitMs = 20_000;

/**
 * The secrets of a vault by name; none where there is no vault. KEY_INSECURE for what others can reach, is no plain
 * file or is too large, VAULT_UNREADABLE for what is damaged or was made for another identity. Nothing of a value is
 * told.
 */
export async function readVault(place: VaultPlace): Promise<Secrets> {
  if (guarded(place, findDirectory) === undefined) return new Map();
  const text = await readGuarded(place.file, true);
  if (text === undefined) return new Map();
  const identity = await readIdentity(place.identity);
  if (identity === undefined) throw unreadable(place, 'the identity that reads it is gone');
  let bytes: Uint8Array;
  try {
    bytes = await decryptText(text, identity);
  } catch (fault) {
    const isForeign = /no identity matched/.test(messageOf(fault));
    throw unreadable(place, isForeign ? 'it was made for another identity' : 'it is damaged');
  }
  try {
    return parseSecrets(bytes);
  } catch (fault) {
    // What a parser says of a place in it may quote it.
    throw unreadable(place, fault instanceof TypeError ? fault.message : 'it holds no secrets by name');
  }
}

/**
 * Changes a vault under its lock and puts it in place whole; what cannot be read is left as it is and refused like a
 * reading. INPUT_TOO_LARGE where it would hold too much, VAULT_BUSY where another process does not let go of it.
 */
export async function changeVault(place: VaultPlace, change: (secrets: Secrets) => Secrets): Promise<void> {
  const directory = await makeDirectories(place.directory).catch((fault: unknown) => {
    throw insecure(place, fault);
  });
  const lock = await acquireProcessLock(join(directory, 'vault.lock'), {
    waitMs,
    busy: (holder) =>
      new WritError('VAULT_BUSY', { detail: { path: place.file, ...(holder ? { pid: holder.pid } : {}) } }),
  });
  try {
    await createOnce(join(directory, '.gitignore'), '*\n', 0o600);
    for (const name of await readdir(directory))
      if (isDraft(name)) await rm(join(directory, name), { force: true });
    const text = formatSecrets(change(await readVault(place)));
    if (Buffer.byteLength(text) > maxVaultBytes)
      throw new WritError('INPUT_TOO_LARGE', {
        message: `expected at most ${maxVaultBytes} octets of secrets in one vault`,
        detail: { maxBytes: maxVaultBytes, path: place.file },
      });
    await writeDurably(place.file, await encryptText(text, await openIdentity(place.identity)));
  } finally {
    await lock.release();
  }
}

function guarded<T>(place: VaultPlace, look: (directory: VaultPlace['directory']) => T): T {
  try {
    return look(place.directory);
  } catch (fault) {
    throw insecure(place, fault);
  }
}

function insecure({ file }: VaultPlace, cause: unknown): WritError {
  return new WritError('KEY_INSECURE', {
    message: `\`${file}\` is refused: ${messageOf(cause)}`,
    detail: { path: file, reason: messageOf(cause) },
    cause,
  });
}

function unreadable({ file }: VaultPlace, found: string): WritError {
  return new WritError('VAULT_UNREADABLE', {
    message: `the vault \`${file}\` cannot be read: ${found}`,
    detail: { path: file, found },
    hints: [
      'nothing in it was changed; put the file or the identity back, or remove the file and set its secrets again',
    ],
  });
}

/**
 * The user's identity; `undefined` where there is none yet. KEY_INSECURE where others can reach it, KEY_UNUSABLE where
 * it is none.
 */
async function readIdentity(path: string): Promise<string | undefined> {
  const text = await readGuarded(path, true);
  if (text === undefined) return undefined;
  const line = text.split('\n').find((one) => one.trim() !== '' && !one.startsWith('#'));
  const identity = line?.trim() ?? '';
  if (/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/.test(identity)) return identity;
  throw new WritError('KEY_UNUSABLE', {
    message: `\`${path}\` is no identity of age`,
    detail: { path },
    hints: ['put the one back that the vaults were made for; without it they cannot be read'],
  });
}

/** The same, made 0600 where there is none; processes that race agree on one. */
async function openIdentity(path: string): Promise<string> {
  const found = await readIdentity(path);
  if (found !== undefined) return found;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await createOnce(path, `${await makeIdentity()}\n`, 0o600);
  const made = await readIdentity(path);
  if (made === undefined)
    throw new WritError('KEY_UNUSABLE', { message: `\`${path}\` is gone`, detail: { path } });
  return made;
}
