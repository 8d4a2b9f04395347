import type { SealingPlace } from '../../core/contract/sealing-place.ts';
import type { SignerSource } from '../../core/contract/signer.ts';
import { parseConfig } from '../../engine/config/config.ts';
import { openRepository } from '../../engine/vcs/repository.ts';

/** What the parties of a seal are opened over. */
export interface SealingSubject {
  /** Makes an empty git repository with a work tree; answers its path. Called once per case. */
  readonly repository: () => Promise<string> | string;
  /** Lines of `[log]` in `.writ/config.toml`. */
  readonly log?: string;
  /** `provenance.transparencyLog.mode`; default `internal-ledger`. */
  readonly logMode?: string;
  /** Further files of the policy commit, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** What a configuration asks for, read as a run reads it. */
export interface AskedParties {
  readonly signers: ReadonlyMap<string, SignerSource>;
  /** Lines of `[signer]`. */
  readonly signer?: string;
}

/** `[signer]` and `[log]` as a run would hand them on; CONFIG_INVALID. */
export function readParties(
  { signers, signer = '' }: AskedParties,
  { log = '' }: Pick<SealingSubject, 'log'> = {},
): SealingPlace['config'] {
  const read = parseConfig(Buffer.from(`[signer]\n${signer}\n[log]\n${log}\n`), { signers });
  return { signer: read.signer, log: read.log };
}

/** A place over a repository of its own. */
export async function openSealingPlace(subject: SealingSubject, asked: AskedParties): Promise<SealingPlace> {
  const repository = await openRepository(await subject.repository());
  const files = new Map(Object.entries(subject.files ?? {}));
  return {
    repository,
    commonDir: repository.commonDir,
    logMode: subject.logMode ?? 'internal-ledger',
    config: readParties(asked, subject),
    readPolicy: async (path) => {
      const found = files.get(path);
      return found === undefined ? undefined : Buffer.from(found);
    },
  };
}
