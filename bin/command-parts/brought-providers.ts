import { listedPlugins } from '../../api/listed-plugins.ts';
import type { ProviderSource } from '../../core/contract/provider.ts';
import type { ManifestProvider } from '../../engine/plugin-trust/manifest-provider.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import type { CommandContext } from './command.ts';

/** What is known of a plugin's provider without asking it anything. */
type KnownProvider = Pick<ProviderSource, 'keys' | 'base'> & Pick<ManifestProvider, 'name'>;

/**
 * Providers that the plugins bring which the repository lists at HEAD, as their manifests say; none of `others`. None
 * where there is no repository, or its list cannot be read: runs say why.
 */
export async function broughtProviders(
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>,
  others: readonly string[],
): Promise<readonly { readonly name: string; readonly plugin: string; readonly source: KnownProvider }[]> {
  try {
    const repository = await openRepository(context.repoPath ?? context.cwd);
    const found = await listedPlugins(context, repository, 'HEAD');
    return found.flatMap((one) =>
      'manifest' in one
        ? one.manifest.providers
            .filter(({ name }) => !others.includes(name))
            .map((source) => ({ name: source.name, plugin: one.manifest.name, source }))
        : [],
    );
  } catch {
    return [];
  }
}
