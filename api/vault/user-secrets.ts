/* Where built-in plugins look for secrets of the user, without loading the vault before it is needed. */
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import type { RepositoryPlace } from '../../core/interfaces/store.ts';

/** The environment, and a lookup in the vaults that loads them when first called. */
export function userSecrets(env: Environment) {
  return {
    env,
    vault: async (repository: RepositoryPlace, name: string): Promise<string | undefined> =>
      (await import('./vault.ts')).findInVaults(repository, env, name),
  };
}
