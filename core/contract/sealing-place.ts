import type { LogConfig } from '../../engine/config/log-section.ts';
import type { SignerConfig } from '../../engine/config/signer-section.ts';
import type { Repository } from '../../engine/vcs/repository.ts';

/** What the parties of a seal are opened with. */
export interface SealingPlace {
  readonly repository: Repository;
  /** The repository's common git directory. */
  readonly commonDir: string;
  /** `provenance.transparencyLog.mode` of the contract. */
  readonly logMode: string;
  /** `[signer]` and `[log]` at the policy commit. */
  readonly config: { readonly signer: SignerConfig; readonly log: LogConfig };
  /** A file of the policy commit's tree; `undefined` where there is none. */
  readPolicy(path: string): Promise<Uint8Array | undefined>;
}
