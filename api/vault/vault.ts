/* Reads and changes a vault: a user's file of secrets for providers and checks. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  decryptText,
  encryptText,
  isForOthers,
  openIdentity,
  readIdentity,
  recipientOf,
} from '../../attest/keys/age.ts';
import { createOnce } from '../../attest/keys/key-signer.ts';
import { type Environment, userConfigDir } from '../../attest/keys/user-config-dir.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import {
  findDirectory,
  isDraft,
  makeDirectories,
  type Place,
  readGuarded,
  writeDurably,
} from '../../core/base/files.ts';
import { quoted } from '../../core/base/printable.ts';
import { anything, list, mapOf, object, parse, text, where } from '../../core/base/schema.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { RepositoryPlace } from '../../core/interfaces/store.ts';
import { readRepositorySettings } from '../../store/stores.ts';
import { acquireProcessLock } from '../../workspace/process/process-lock.ts';

/** Writers of one vault wait for each other; each is done in milliseconds. */
const waitMs = 20_000;

/**
 * Returns the secrets of a vault by name; empty if there is none. KEY_INSECURE if the file is accessible to others,
 * not a plain file, or too large. VAULT_UNREADABLE if it is damaged or encrypted for another identity. Errors never
 * contain a value.
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
    throw unreadable(place, isForOthers(fault) ? 'it was made for another identity' : 'it is damaged');
  }
  try {
    return parseSecrets(bytes);
  } catch (fault) {
    // A parser error may quote the secret text.
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
    const recipient = await recipientOf(await openIdentity(place.identity));
    await writeDurably(place.file, await encryptText(text, [recipient]));
  } finally {
    await lock.release();
  }
}

/** A secret of the repository's vault, else of the user's. */
export async function findInVaults(
  repository: RepositoryPlace,
  env: Environment,
  name: string,
): Promise<string | undefined> {
  const own = (await readVault(await repositoryVault(repository, env))).get(name);
  return (own ?? (await readVault(globalVault(env))).get(name))?.value;
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
      'restore the file or the key, or remove the file and set its secrets again; writ changed nothing in it',
    ],
  });
}

/** Form of what a vault holds, before it is encrypted. */
const format = 'urn:writ:vault:v1';
/** Octets of all names and values of one vault. */
export const maxVaultBytes = 40 * 1024;
/** Scopes of one secret. */
export const maxScopes = 32;
/** Characters of one value. */
export const maxValueLength = 16 * 1024;

interface Secret {
  readonly value: string;
  /**
   * Scopes from the spec's `security.secrets.allowedScopes` that give this secret to checks. Empty: no check receives
   * it.
   */
  readonly scopes: readonly string[];
}

export type Secrets = ReadonlyMap<string, Secret>;

export function formatSecrets(secrets: Secrets): string {
  const sorted = [...secrets].sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify({ format, env: Object.fromEntries(sorted) })}\n`;
}

const vault = object('a vault', {
  format: where(anything, 'its known form', (found) => found === format),
  env: where(
    mapOf(
      'names with values',
      object('a value with scopes', {
        value: where(text(maxValueLength, 0), 'to be a secret', (value) => whyNoSecret(value) === undefined),
        scopes: list(where(text(128), 'to be a scope', isScope), maxScopes),
      }),
    ),
    'names of secrets',
    (env) => Object.keys(env).every(isSecretName),
  ),
});

/** Throws with the reason if the vault is invalid. The reason never quotes its content. */
function parseSecrets(bytes: Uint8Array): Secrets {
  const { value } = parseStrictJson(bytes, { maxBytes: 2 * maxVaultBytes, maxDepth: 4 });
  return new Map(Object.entries(parse(vault, value).env));
}

/** A scope as a spec can name it: 1 to 128 printable ASCII characters without spaces. */
export function isScope(text: string): boolean {
  return /^[\x21-\x7e]{1,128}$/.test(text);
}

/** Returns why a text cannot be a secret: an environment variable could not hold it, or masking could not find it. */
export function whyNoSecret(text: string): string | undefined {
  if (text.trim() === '') return 'it is empty';
  if (text.includes('\0')) return 'it holds a null character';
  return text.length > maxValueLength ? `it has more than ${maxValueLength} characters` : undefined;
}

/** Where a vault is kept, and the identity that reads it. */
export interface VaultPlace {
  readonly kind: 'repository' | 'global';
  /** The vault's directory. Its path contains no symlink. */
  readonly directory: Place;
  readonly file: string;
  /** The user's own, outside of every repository. */
  readonly identity: string;
}

const fileName = 'secrets.age';

/** The vault of the user, for every repository. */
export function globalVault(env: Environment): VaultPlace {
  const root = userConfigDir(env);
  return toPlace('global', { root, parts: ['vault'] }, env);
}

/**
 * `.writ/vault` of the main working tree, shared by all working trees. In a bare repository, it is in the git
 * directory. Git never tracks it.
 */
export async function repositoryVault(repository: RepositoryPlace, env: Environment): Promise<VaultPlace> {
  const { main } = await readRepositorySettings(repository);
  const directory =
    main === undefined
      ? { root: repository.commonDir, parts: ['writ', 'vault'] }
      : { root: main, parts: ['.writ', 'vault'] };
  return toPlace('repository', directory, env);
}

function toPlace(kind: VaultPlace['kind'], directory: Place, env: Environment): VaultPlace {
  return {
    kind,
    directory,
    file: join(directory.root, ...directory.parts, fileName),
    identity: join(userConfigDir(env), 'vault', 'identity.txt'),
  };
}

/** Prefix of a secret's name outside the vault. */
const prefix = 'vault.env.';

/** Valid name of an environment variable that is not a property of `Object.prototype`. */
function isSecretName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name) && !(name in {}) && name !== 'prototype';
}

/** The name as it was typed, with `vault.env.` before it or without. USAGE. */
export function parseSecretName(typed: string): string {
  const name = typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  if (isSecretName(name)) return name;
  throw new WritError('USAGE', {
    message: `expected the name of a variable, found ${quoted(typed)}`,
    detail: { expected: 'letters, digits and `_`, at most 128, no digit first', found: typed.slice(0, 80) },
  });
}
