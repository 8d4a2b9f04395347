import type { OutsideLog } from './outside-log.ts';
import type { RepositoryPlace } from './repository-place.ts';
import type { LogConfig, SignerConfig } from './sealing-config.ts';

/** What the parties of a seal are opened with. */
export interface SealingPlace {
  readonly repository: RepositoryPlace;
  /** The repository's common git directory. */
  readonly commonDir: string;
  /** `provenance.transparencyLog.mode` of the contract. */
  readonly logMode: string;
  /** `[signer]` and `[log]` at the policy commit. */
  readonly config: { readonly signer: SignerConfig; readonly log: LogConfig };
  /** Whoever asks only wants to know whether it opens: no key is made where there is none yet. */
  readonly dry?: boolean;
  /** The log of a plugin that the policy commit lists, by its name. */
  readonly outsideLog?: (name: string) => OutsideLog | undefined;
  /** A file of the policy commit's tree; `undefined` where there is none. */
  readPolicy(path: string): Promise<Uint8Array | undefined>;
}
