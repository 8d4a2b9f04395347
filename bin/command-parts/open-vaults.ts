import { readVault } from '../../api/vault/vault.ts';
import type { VaultPlace } from '../../api/vault/vault-place.ts';
import type { Secrets } from '../../api/vault/vault-text.ts';
import type { CommandContext } from './command.ts';
import { vaultsHere } from './pick-vault.ts';

/** The vaults that are looked in here, each read when it is first asked, and once. */
export interface Vaults {
  find(kind: VaultPlace['kind'], name: string): Promise<string | undefined>;
  /** Secrets that were set with a scope, by name; of two with one name that of the repository. */
  ofScope(scope: string): Promise<ReadonlyMap<string, string>>;
  /** Values of all of them. */
  values(): Promise<readonly string[]>;
}

/** What reading a vault refuses is refused by whoever asks. */
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
