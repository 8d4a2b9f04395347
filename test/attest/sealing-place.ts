import {
  type LedgerSection,
  ledgerMode,
  type PublicLogSection,
  publicLogMode,
} from '../../attest/log/log-sections.ts';
import type { SealingPlace } from '../../core/interfaces/sealing.ts';
import type { Repository } from '../../workspace/git/repository.ts';

/** What a log or a certified key is opened with; `files` are those of the base commit. */
export function sealingPlace(
  commonDir: string,
  changes: {
    readonly logMode?: string;
    readonly signer?: SealingPlace['config']['signer'];
    readonly log?: PublicLogSection & LedgerSection;
  } = {},
  files: Readonly<Record<string, string | Uint8Array>> = {},
): SealingPlace {
  const { logMode = 'internal-ledger', signer = { key: { form: 'default' } }, log = {} } = changes;
  return {
    repository: { commonDir } as Repository,
    commonDir,
    logMode,
    config: { signer, log: { [publicLogMode]: log, [ledgerMode]: log } },
    readPolicy: async (path) => {
      const found = files[path];
      return found === undefined ? undefined : Buffer.from(found as Uint8Array);
    },
  };
}
