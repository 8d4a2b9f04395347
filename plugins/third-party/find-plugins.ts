/* Finds the content of each listed plugin and compares it with its pinned digest. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ListedPlugin } from '../../engine/config/config.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readBlob, readBlobs } from '../../workspace/git/read-objects.ts';
import { listTree } from '../../workspace/git/tree.ts';
import type { PluginAccess } from './plugin-access.ts';
import { type PluginManifest, readManifest } from './plugin-manifest.ts';
import {
  invalidPackage,
  leftOut,
  maxTarballBytes,
  type PluginPackage,
  packageLimits,
  readDirectory,
  readTarball,
  toPluginPackage,
} from './plugin-package.ts';

/**
 * The content found for one entry of the plugin list. `missing`: there is none; `changed`: it differs from the pinned
 * digest.
 */
export type FoundPlugin = { readonly listed: ListedPlugin } & (
  | { readonly status: 'missing' }
  | { readonly status: 'changed'; readonly foundDigest: string }
  | {
      readonly status: 'trusted' | 'untrusted';
      readonly pluginPackage: PluginPackage;
      readonly manifest: PluginManifest;
    }
);

/**
 * Looks up every listed plugin, in order, without running its code. Throws PLUGIN_INVALID if the content is not a
 * plugin.
 */
export async function findPlugins(
  repository: GitDirectory,
  baseTree: string,
  listed: readonly ListedPlugin[],
  access: PluginAccess,
): Promise<readonly FoundPlugin[]> {
  const found: FoundPlugin[] = [];
  for (const one of listed) {
    const pluginPackage =
      one.kind === 'path'
        ? await readBaseTree(repository, baseTree, one.place)
        : await access.find(one.digest);
    if (pluginPackage === undefined) found.push({ listed: one, status: 'missing' });
    else if (pluginPackage.digest !== one.digest)
      found.push({ listed: one, status: 'changed', foundDigest: pluginPackage.digest });
    else {
      const manifest = readManifest(pluginPackage, one.place);
      const status = (await access.trusts(one.digest)) ? 'trusted' : 'untrusted';
      found.push({ listed: one, status, pluginPackage, manifest });
    }
  }
  return found;
}

/**
 * Reads the plugin at a path of a tree, a directory or a `.tgz`; `undefined` if the path does not exist. Throws
 * PLUGIN_INVALID for links and submodules.
 */
async function readBaseTree(
  repository: GitDirectory,
  tree: string,
  path: string,
): Promise<PluginPackage | undefined> {
  const listed = await listTree(repository, tree, path);
  const [only] = listed;
  if (only === undefined) return undefined;
  if (only.path === path) {
    if (!path.endsWith('.tgz') || !only.mode.startsWith('100'))
      throw invalidPackage(path, 'expected a directory or a `.tgz` file');
    const bytes = await readBlob(repository, tree, path, maxTarballBytes);
    return bytes && readTarball(bytes, path);
  }
  const entries = listed.filter((entry) => !entry.path.split('/').some((segment) => leftOut.has(segment)));
  const odd = entries.find(({ mode }) => !mode.startsWith('100'));
  if (odd !== undefined) throw invalidPackage(path, `\`${odd.path}\` is no plain file`);
  if (entries.length > packageLimits.files)
    throw invalidPackage(path, `expected at most ${packageLimits.files} files`);
  const blobs = await readBlobs(
    repository,
    tree,
    entries.map((entry) => entry.path),
    packageLimits.bytes,
  );
  return toPluginPackage(
    entries.map((entry) => {
      const bytes = blobs.get(entry.path);
      if (bytes === undefined) throw invalidPackage(path, `\`${JSON.stringify(entry.path)}\` cannot be read`);
      return [entry.path.slice(path.length + 1), bytes] as const;
    }),
    path,
  );
}

const maxTries = 5;

/**
 * Writes a package's files below `root` under their digest, and returns the directory. An existing directory is
 * compared byte for byte, and is written again if it was altered.
 */
export async function keepFiles(root: string, pluginPackage: PluginPackage): Promise<string> {
  const directory = join(root, pluginPackage.digest);
  if (await isWhole(directory, pluginPackage)) return directory;
  await mkdir(root, { recursive: true, mode: 0o700 });
  const draft = join(root, `tmp-${uuidV7(systemClock.now())}`);
  const aside: string[] = [];
  try {
    for (const [path, bytes] of pluginPackage.files) {
      await mkdir(dirname(join(draft, path)), { recursive: true, mode: 0o700 });
      await writeFile(join(draft, path), bytes, { flag: 'wx', mode: 0o400 });
    }
    for (let tries = 1; ; tries += 1) {
      try {
        await rename(draft, directory);
        break;
      } catch (fault) {
        // Somebody else was quicker, with the same content; or what is there is not it.
        if (await isWhole(directory, pluginPackage)) break;
        if (tries === maxTries) throw fault;
        // Moved as a whole: emptying it in place could delete files that another process has just written.
        const gone = join(root, `tmp-${uuidV7(systemClock.now())}`);
        aside.push(gone);
        await rename(directory, gone).catch(() => undefined);
      }
    }
  } finally {
    for (const path of [draft, ...aside]) await rm(path, { recursive: true, force: true });
  }
  return directory;
}

/** No file is ignored here, because the package could import any additional file. */
async function isWhole(directory: string, { digest }: PluginPackage): Promise<boolean> {
  const kept = await readDirectory(directory, directory, new Set()).catch(() => undefined);
  return kept?.digest === digest;
}
