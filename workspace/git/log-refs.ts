/** Copies of logs in git: `refs/ai/ledger/<encoded origin>`. */
export const logPrefix = 'refs/ai/ledger/';

export function isLogRef(ref: string): boolean {
  return ref.length > logPrefix.length && ref.startsWith(logPrefix);
}

/** The version of a log that a remote had at the last `writ push` or `writ fetch`. It stays in this repository. */
export function publishedLogRef(ref: string): string {
  return `refs/writ/ledger-published/${ref.slice(logPrefix.length)}`;
}

/** The version of a log at a remote that does not continue the one here. It stays in this repository. */
export function fetchedLogRef(ref: string): string {
  return `refs/writ/ledger-fetched/${ref.slice(logPrefix.length)}`;
}

/** The log of a proof, by its copy in git, and why the run must not be published, if so. */
export interface ProofStanding {
  readonly log: string;
  readonly fault?: string;
}
