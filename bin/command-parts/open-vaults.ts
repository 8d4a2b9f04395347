import { readVault } from '../../api/vault/vault.ts';
import type { VaultPlace } from '../../api/vault/vault-place.ts';
import type { Secrets } from '../../api/vault/vault-text.ts';
import type { CommandContext } from './command.ts';
import { vaultsHere } from './pick-vault.ts';

/** The vaults that are looked in here, each read when it is first asked, and once. */
export interface Vaults {
  find(kind: VaultPlace['kind'], name: string): Promise<string | undefined>;
  /** Of all of them. */
  values(): Promise<readonly string[]>;
}

/** What reading a vault refuses is refused by whoever asks. */
export function openVaults(context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env'>): Vaults {
  let places: ReturnType<typeof vaultsHere> | undefined;
  const read = new Map<string, Promise<Secrets>>();
  const secretsOf = (place: VaultPlace): Promise<Secrets> => {
    const secrets = read.get(place.file) ?? readVault(place);
    read.set(place.file, secrets);
    return secrets;
  };
  const here = (): ReturnType<typeof vaultsHere> => {
    places ??= vaultsHere(context);
    return places;
  };
  return {
    async find(kind, name) {
      const place = (await here()).find((one) => one.kind === kind);
      return place === undefined ? undefined : (await secretsOf(place)).get(name);
    },
    async values() {
      const all: string[] = [];
      for (const place of await here()) all.push(...(await secretsOf(place)).values());
      return all;
    },
  };
}
