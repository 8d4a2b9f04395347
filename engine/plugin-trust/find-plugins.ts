import type { ListedPlugin } from '../config/config.ts';
import { readBlob, readBlobs } from '../vcs/blobs.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { listTree } from '../vcs/tree.ts';
import type { PluginAccess } from './plugin-access.ts';
import { type PluginManifest, readManifest } from './plugin-manifest.ts';
import { invalidPackage, type PluginPackage, packageLimits, toPluginPackage } from './plugin-package.ts';
import { leftOut } from './read-directory.ts';
import { maxTarballBytes, readTarball } from './read-tarball.ts';

/**
 * What stands behind one entry of the plugin list. `missing`: nothing there; `changed`: something else than was pinned.
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

/** Looks at every listed plugin, in order; none of their code runs. PLUGIN_INVALID for content that is no plugin. */
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
 * The plugin at a path of a tree, a directory or a `.tgz`; `undefined` where nothing is there. Links and submodules are
 * PLUGIN_INVALID.
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
