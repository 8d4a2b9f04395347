import type { SealingPlace } from '../../core/contract/sealing-place.ts';
import type { LogForm } from '../../core/contract/transparency-log.ts';
import { parseConfig } from '../../engine/config/config.ts';
import type { SignerForms } from '../../engine/config/signer-section.ts';
import { openRepository } from '../../engine/vcs/repository.ts';

/** What the parties of a seal are opened over. */
export interface SealingSubject {
  /** Makes an empty git repository with a work tree; answers its path. Called once per case. */
  readonly repository: () => Promise<string> | string;
  /** Lines of `[log]` in `.writ/config.toml`. */
  readonly log?: string;
  /** Who reads them, by the name of the log. A log that is tested reads them itself. */
  readonly logs?: Readonly<Record<string, LogForm>>;
  /** `provenance.transparencyLog.mode`; default `internal-ledger`. */
  readonly logMode?: string;
  /** Logs of plugins, by name. */
  readonly outsideLog?: NonNullable<SealingPlace['outsideLog']>;
  /** Further files of the policy commit, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** How a configuration asks for a key. */
export interface AskedKey {
  readonly signers: SignerForms;
  /** Lines of `[signer]`. */
  readonly signer?: string;
}

/** `[signer]` and `[log]` as a run would hand them on; CONFIG_INVALID. */
export function readParties(
  { signers, signer = '' }: AskedKey,
  { log = '', logs = {} }: Pick<SealingSubject, 'log' | 'logs'> = {},
): SealingPlace['config'] {
  const bytes = Buffer.from(`[signer]\n${signer}\n[log]\n${log}\n`);
  const read = parseConfig(bytes, { signers, logs: new Map(Object.entries(logs)) });
  return { signer: read.signer, log: read.log };
}

/** A place over a repository of its own. */
export async function openSealingPlace(subject: SealingSubject, asked: AskedKey): Promise<SealingPlace> {
  const repository = await openRepository(await subject.repository());
  const files = new Map(Object.entries(subject.files ?? {}));
  return {
    repository,
    commonDir: repository.commonDir,
    logMode: subject.logMode ?? 'internal-ledger',
    config: readParties(asked, subject),
    ...(subject.outsideLog === undefined ? {} : { outsideLog: subject.outsideLog }),
    readPolicy: async (path) => {
      const found = files.get(path);
      return found === undefined ? undefined : Buffer.from(found);
    },
  };
}
