import type { SealingPlace } from '../../core/contract/sealing-place.ts';
import type { Repository } from '../../engine/vcs/repository.ts';

/** What a log or a certified key is opened with; `files` are those of the base commit. */
export function sealingPlace(
  commonDir: string,
  changes: Partial<Pick<SealingPlace, 'logMode'> & SealingPlace['config']> = {},
  files: Readonly<Record<string, string | Uint8Array>> = {},
): SealingPlace {
  const { logMode = 'internal-ledger', signer = { key: { form: 'default' } }, log = {} } = changes;
  return {
    repository: { commonDir } as Repository,
    commonDir,
    logMode,
    config: { signer, log },
    readPolicy: async (path) => {
      const found = files[path];
      return found === undefined ? undefined : Buffer.from(found as Uint8Array);
    },
  };
}
