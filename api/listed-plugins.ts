import { sealingForms } from '../attest/attestor/sealing-forms.ts';
import type { Environment } from '../attest/keys/user-config-dir.ts';
import { parseConfig } from '../engine/config/config.ts';
import { type FoundPlugin, findPlugins } from '../engine/plugin-trust/find-plugins.ts';
import { readBlob } from '../engine/vcs/blobs.ts';
import type { Repository } from '../engine/vcs/repository.ts';
import { resolveBase } from '../engine/vcs/resolve-commit.ts';
import { userPluginAccess } from './user-plugins.ts';

/**
 * The plugins that a revision's configuration lists, and what stands behind each; none of their code runs. Throws what
 * resolving the revision, reading its configuration and reading a package can throw.
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
