import { join } from 'node:path';
import { type Environment, userConfigDir } from '../../attest/keys/user-config-dir.ts';
import type { Place } from '../../core/base/plain-place.ts';
import type { RepositoryPlace } from '../../core/contract/repository-place.ts';
import { readRepositorySettings } from '../../engine/store/repository-settings.ts';

/** Where a vault is kept, and the identity that reads it. */
export interface VaultPlace {
  readonly kind: 'repository' | 'global';
  /** The directory; on the way to it there is no symlink. */
  readonly directory: Place;
  readonly file: string;
  /** The user's own, outside of every repository. */
  readonly identity: string;
}

const fileName = 'secrets.age';

/** The vault of the user, for every repository. */
export function globalVault(env: Environment): VaultPlace {
  const root = userConfigDir(env);
  return toPlace('global', { root, parts: ['vault'] }, env);
}

/**
 * `.writ/vault` of the main work tree, the same for all of them; in the git directory where there is none. Nothing of
 * it is ever tracked.
 */
export async function repositoryVault(repository: RepositoryPlace, env: Environment): Promise<VaultPlace> {
  const { main } = await readRepositorySettings(repository);
  const directory =
    main === undefined
      ? { root: repository.commonDir, parts: ['writ', 'vault'] }
      : { root: main, parts: ['.writ', 'vault'] };
  return toPlace('repository', directory, env);
}

function toPlace(kind: VaultPlace['kind'], directory: Place, env: Environment): VaultPlace {
  return {
    kind,
    directory,
    file: join(directory.root, ...directory.parts, fileName),
    identity: join(userConfigDir(env), 'vault', 'identity.txt'),
  };
}
