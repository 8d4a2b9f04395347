/* The plugins that this user trusts and keeps. */
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sealingForms } from '../attest/attestor/sealing-forms.ts';
import { type Environment, userConfigDir } from '../attest/keys/user-config-dir.ts';
import { WritError } from '../core/base/errors.ts';
import { readGuarded } from '../core/base/files.ts';
import { secretsOf } from '../core/kernel/plugin.ts';
import { parseConfig } from '../engine/config/config.ts';
import { type FoundPlugin, findPlugins, keepFiles } from '../plugins/third-party/find-plugins.ts';
import { ownFilePlace } from '../plugins/third-party/manifest-parts.ts';
import type { PluginAccess } from '../plugins/third-party/plugin-access.ts';
import { type PluginPackage, readDirectory } from '../plugins/third-party/plugin-package.ts';
import { readBlob } from '../workspace/git/read-objects.ts';
import type { Repository } from '../workspace/git/repository.ts';
import { resolveBase } from '../workspace/git/resolve-commit.ts';

/** The 64 hexadecimal digits of `sha256:…` as the user typed it; anything else is USAGE. */
export function parsePluginDigest(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text)) return text.slice('sha256:'.length);
  throw new WritError('USAGE', {
    message: 'expected the digest of a plugin, `sha256:` and 64 lower-case hexadecimal digits',
    detail: { given: text.slice(0, 100) },
    hints: ['`writ plugin list` shows the digests'],
  });
}

/**
 * What this user trusts and keeps; `named` are trusted besides, for one command. Files that others could have written
 * are KEY_INSECURE.
 */
export function userPluginAccess(env: Environment, named: readonly string[] = []): PluginAccess {
  const forOnce = named.map(parsePluginDigest);
  return {
    trusts: async (digest) =>
      forOnce.includes(digest) || (await readGuarded(trustFile(env, digest), true)) !== undefined,
    async find(digest) {
      // Excludes no file: any extra file changes the digest.
      return readDirectory(keptPlace(env, digest), digest, new Set()).catch(() => undefined);
    },
    async secret(name) {
      const value = secretsOf(env)(name);
      return value === undefined || value.trim() === '' ? undefined : { value, place: 'the environment' };
    },
    async file(path) {
      const place = await ownFilePlace(env, path);
      return place === undefined ? undefined : readGuarded(place, false);
    },
  };
}

/** Trusts one plugin digest from now on. `note` records the purpose. Returns false if it is trusted already. */
export async function trustPlugin(env: Environment, digest: string, note: string): Promise<boolean> {
  const path = trustFile(env, digest);
  if ((await readGuarded(path, true)) !== undefined) return false;
  await mkdir(trustDir(env), { recursive: true, mode: 0o700 });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600).catch(
    (fault: NodeJS.ErrnoException) => {
      if (fault.code === 'EEXIST') return undefined;
      throw fault;
    },
  );
  if (file === undefined) return false;
  try {
    await file.writeFile(`${note}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}

/** Path of the file that marks the digest as trusted. */
export function trustFile(env: Environment, digest: string): string {
  return join(trustDir(env), digest);
}

/** Where a package is kept that this user keeps. */
export function keptPlace(env: Environment, digest: string): string {
  return join(keptDir(env), digest);
}

/** Withdraws trust; false where there was none. */
export async function distrustPlugin(env: Environment, digest: string): Promise<boolean> {
  const path = trustFile(env, digest);
  if ((await readGuarded(path, true)) === undefined) return false;
  await rm(path, { force: true });
  return true;
}

/** Keeps a package for repositories that list it by name. */
export async function keepPlugin(env: Environment, pluginPackage: PluginPackage): Promise<void> {
  await keepFiles(keptDir(env), pluginPackage);
}

function trustDir(env: Environment): string {
  return join(userConfigDir(env), 'trusted-plugins');
}

function keptDir(env: Environment): string {
  return join(userConfigDir(env), 'plugins');
}

/**
 * Returns the plugins listed in a revision's configuration, and the package found for each, if any. Does not run
 * their code. Throws the errors of resolving the revision, reading its configuration and reading a package.
 */
export async function listedPlugins(
  { env }: { readonly env: Environment },
  repository: Repository,
  revision: string,
): Promise<readonly FoundPlugin[]> {
  const { tree } = await resolveBase(repository, revision);
  const { plugins } = parseConfig(await readBlob(repository, tree, '.writ/config.toml'), sealingForms);
  return findPlugins(repository, tree, plugins, userPluginAccess(env));
}
