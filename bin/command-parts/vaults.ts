/* The vaults of a command: the repository's and the user's. */
import {
  globalVault,
  readVault,
  repositoryVault,
  type Secrets,
  type VaultPlace,
} from '../../api/vault/vault.ts';
import { isWritError } from '../../core/base/errors.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { CommandContext } from './command.ts';

/** The vaults of a command. Each is read once, on first use. */
interface Vaults {
  find(kind: VaultPlace['kind'], name: string): Promise<string | undefined>;
  /** Secrets that were set with a scope, by name; of two with one name that of the repository. */
  ofScope(scope: string): Promise<ReadonlyMap<string, string>>;
  /** Values of all of them. */
  values(): Promise<readonly string[]>;
}

/** Errors from reading a vault are thrown on use, not on opening. */
export function openVaults(context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>): Vaults {
  let read: Promise<ReadonlyMap<VaultPlace['kind'], Secrets>> | undefined;
  const all = (): Promise<ReadonlyMap<VaultPlace['kind'], Secrets>> => {
    read ??= readAll(context);
    return read;
  };
  return {
    find: async (kind, name) => (await all()).get(kind)?.get(name)?.value,
    async ofScope(scope) {
      const found = new Map<string, string>();
      const taken = new Set<string>();
      for (const secrets of (await all()).values())
        for (const [name, { value, scopes }] of secrets) {
          if (!taken.has(name) && scopes.includes(scope)) found.set(name, value);
          taken.add(name);
        }
      return found;
    },
    values: async () =>
      [...(await all()).values()].flatMap((secrets) => [...secrets.values()].map(({ value }) => value)),
  };
}

async function readAll(
  context: Parameters<typeof openVaults>[0],
): Promise<ReadonlyMap<VaultPlace['kind'], Secrets>> {
  const found = new Map<VaultPlace['kind'], Secrets>();
  for (const place of await vaultsHere(context)) found.set(place.kind, await readVault(place));
  return found;
}

/**
 * Returns the vault that the command line selects: the repository's, or with `--global` the user's. NOT_A_REPOSITORY.
 */
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
