/* The problems that `writ fsck` reports. */
export type ProblemCode =
  /** A ref that git cannot read, or that points to no commit. */
  | 'ref-broken'
  /** A git object that is missing, or has other content than its id says. */
  | 'object-missing'
  | 'object-corrupt'
  /** A stored file whose content does not have the shape of its name. */
  | 'object-malformed'
  | 'digest-mismatch'
  /** A name of something that does not exist. */
  | 'reference-missing'
  /** Artifact content that is missing before its expiry. */
  | 'content-missing'
  | 'journal-corrupt'
  /** A journal that ends before the record that was made from it. */
  | 'journal-cut'
  /** The place of a thread, its journal or its lock has another kind of file. */
  | 'thread-foreign'
  /** The journal of a thread without a valid MAC. */
  | 'thread-unproven'
  /** The index of threads is unusable, or contradicts the journals. */
  | 'thread-index'
  /** The audit log of a thread has a changed line. */
  | 'audit-altered'
  /** The audit log ends before its last written line. */
  | 'audit-cut'
  /** Lines of the audit log, or all of it, are missing. */
  | 'audit-missing'
  /** A file of the audit log that this user did not write here, or that others can access. */
  | 'audit-foreign'
  | 'ledger-checkpoint'
  | 'ledger-tile'
  | 'ledger-entry'
  /** A file of the ledger that cannot be read. */
  | 'ledger-unreadable';

/** A problem, and what depends on it. */
export interface Problem {
  readonly code: ProblemCode;
  /** `<ref>:<path>`, a ref, or a path. */
  readonly where: string;
  readonly what: string;
  readonly object?: string;
  /** The ref that names the missing object. */
  readonly namedBy?: string;
  /** `run:<id>`, `decision:<id>`, `commit:<sha>`. */
  readonly dependsOn: readonly string[];
}

export type Found = Omit<Problem, 'dependsOn'>;

/** A problem of records, with the refs of those. */
export type FoundAt = Found & { readonly refs: readonly string[] };

/** `index`: the wrong entry; `from`: every entry from there on; `ref`: only that run; none of them: all entries. */
export interface LedgerFindings {
  readonly entries: number;
  readonly problems: readonly (Found & {
    readonly index?: number;
    readonly from?: number;
    readonly ref?: string;
  })[];
}
