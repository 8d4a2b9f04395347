/** Stable words for what can be wrong with what is stored. */
export type ProblemCode =
  /** A ref that git cannot read, or that points to no commit. */
  | 'ref-broken'
  /** A git object that is needed and not there, or not what its id says. */
  | 'object-missing'
  | 'object-corrupt'
  /** A stored file that is not of the shape that its name promises. */
  | 'object-malformed'
  /** A digest that does not fit what it is said to be of. */
  | 'digest-mismatch'
  /** A name of something that is not there. */
  | 'reference-missing'
  /** Artifact content that should still be there. */
  | 'content-missing'
  | 'journal-corrupt'
  /** A journal that ends before the record that was made from it. */
  | 'journal-cut'
  /** What lies in the place of a thread of a session, of its journal or of its lock, and is none. */
  | 'thread-foreign'
  /** The journal of a thread that nobody here vouches for. */
  | 'thread-unproven'
  /** The index of threads cannot be used, or does not say what their journals say. */
  | 'thread-index'
  /** The audit log of a session's thread: a line that is not what was written. */
  | 'audit-altered'
  /** It ends before the last line that was written. */
  | 'audit-cut'
  /** Lines of it, or all of it, are not there. */
  | 'audit-missing'
  /** A file of it that this user did not write here, or that others can reach. */
  | 'audit-foreign'
  | 'ledger-checkpoint'
  | 'ledger-tile'
  | 'ledger-entry'
  /** Something that belongs to the ledger and could not be read. */
  | 'ledger-unreadable';

/** One thing that is wrong, and what rests on it. */
export interface Problem {
  readonly code: ProblemCode;
  /** `<ref>:<path>`, a ref, or a path. */
  readonly where: string;
  readonly what: string;
  /** The git object that is broken. */
  readonly object?: string;
  /** The ref that names what is missing. */
  readonly namedBy?: string;
  /** `run:<id>`, `decision:<id>`, `commit:<sha>`. */
  readonly dependsOn: readonly string[];
}

/** A problem before it is known what rests on it. */
export type Found = Omit<Problem, 'dependsOn'>;
