import { globalVault, repositoryVault, type VaultPlace } from '../../api/vault/vault-place.ts';
import { isWritError } from '../../core/base/errors.ts';
import { openRepository } from '../../engine/vcs/repository.ts';
import type { CommandContext } from './command.ts';

/** The vault that a command line means: of the repository, or with `--global` the user's. NOT_A_REPOSITORY. */
export async function pickVault({ options, repoPath, cwd, env }: CommandContext): Promise<VaultPlace> {
  return options.flag('global')
    ? globalVault(env)
    : repositoryVault(await openRepository(repoPath ?? cwd), env);
}

/** Every vault that is looked in here, in the order in which that is done. */
export async function vaultsHere({
  repoPath,
  cwd,
  env,
}: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>): Promise<readonly VaultPlace[]> {
  const repository = await openRepository(repoPath ?? cwd).catch((fault: unknown) => {
    if (repoPath === undefined && isWritError(fault, 'NOT_A_REPOSITORY')) return undefined;
    throw fault;
  });
  return [...(repository === undefined ? [] : [await repositoryVault(repository, env)]), globalVault(env)];
}
