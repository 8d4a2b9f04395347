import type { ListedPlugin } from '../config/config.ts';
import type { GitDirectory } from '../vcs/git.ts';
import type { PluginAccess } from './plugin-access.ts';
import { type PluginManifest, readManifest } from './plugin-manifest.ts';
import type { PluginPackage } from './plugin-package.ts';
import { readBaseTree } from './read-base-tree.ts';

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
