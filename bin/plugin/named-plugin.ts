import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { listedPlugins } from '../../api/listed-plugins.ts';
import { parsePluginDigest, userPluginAccess } from '../../api/user-plugins.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/quoted.ts';
import type { FoundPlugin } from '../../engine/plugin-trust/find-plugins.ts';
import { refusalOf } from '../../engine/plugin-trust/open-plugins.ts';
import { type PluginManifest, readManifest } from '../../engine/plugin-trust/plugin-manifest.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { readPlugin } from './read-plugin.ts';

/** A content that a user speaks of; without manifest where nothing here has it. */
export interface SpokenOf {
  readonly digest: string;
  readonly manifest?: PluginManifest;
}

/**
 * What a user means by a digest, a directory or `.tgz`, or the name of a plugin that the repository lists at HEAD (its
 * own, that of its package, its path). USAGE where nothing is called so, or two contents are; PLUGIN_MISSING and
 * PLUGIN_CHANGED for a listed one that is not here as it is pinned.
 */
export async function namedPlugin(context: CommandContext, given: string): Promise<SpokenOf> {
  if (given.startsWith('sha256:')) return knownByDigest(context, parsePluginDigest(given));
  const path = resolve(context.cwd, given);
  const status = given === '' ? undefined : await stat(path).catch(() => undefined);
  const there = status === undefined ? undefined : await readPlugin(context, given);
  const listed = (await listedHere(context)).find((found) => isCalled(found, given));
  if (there === undefined) {
    if (listed !== undefined) return trustable(listed);
    throw new WritError('USAGE', {
      message: `expected a digest, a directory or \`.tgz\`, or the name of a plugin that is listed at HEAD, found ${quoted(given)}`,
      detail: { command: 'plugin trust', given: given.slice(0, 200) },
      hints: ['see their names and digests: `writ plugin list`'],
    });
  }
  const { digest } = there.pluginPackage;
  if (listed !== undefined && listed.listed.digest !== digest)
    throw new WritError('USAGE', {
      message: `${quoted(given)} is two things: what lies here has the digest \`sha256:${digest}\`, what HEAD lists \`sha256:${listed.listed.digest}\``,
      detail: { command: 'plugin trust', here: `sha256:${digest}`, listed: `sha256:${listed.listed.digest}` },
      hints: ['say which by its digest'],
    });
  return { digest, manifest: there.manifest };
}

function trustable(found: FoundPlugin): SpokenOf {
  if (found.status === 'missing' || found.status === 'changed') throw refusalOf(found);
  return { digest: found.listed.digest, manifest: found.manifest };
}

async function knownByDigest(context: CommandContext, digest: string): Promise<SpokenOf> {
  const kept = await userPluginAccess(context.env).find(digest);
  if (kept?.digest === digest) return { digest, manifest: readManifest(kept, digest) };
  const listed = (await listedHere(context)).find((found) => found.listed.digest === digest);
  return listed !== undefined && 'manifest' in listed ? { digest, manifest: listed.manifest } : { digest };
}

/** What the repository lists at HEAD; nothing where there is none, or its list cannot be read. */
async function listedHere(context: CommandContext): Promise<readonly FoundPlugin[]> {
  try {
    const repository = await openRepository(context.repoPath ?? context.cwd);
    return await listedPlugins(context, repository, 'HEAD');
  } catch (fault) {
    if (isWritError(fault)) return [];
    throw fault;
  }
}

function isCalled(found: FoundPlugin, given: string): boolean {
  const names = [found.listed.place, ...('manifest' in found ? [found.manifest.name] : [])];
  return names.includes(given.replace(/^\.\//, '').replace(/\/$/, ''));
}
