/* A candidate change as rules see it. */
export type ChangeType = 'add' | 'modify' | 'delete' | 'rename' | 'copy' | 'mode';

/** One changed file. Paths are repository-relative, POSIX, decoded (never C-quoted). */
export interface PatchFile {
  readonly path: string;
  /** The path at base if it differs (rename, copy). */
  readonly oldPath?: string;
  readonly changeType: ChangeType;
  /** Six octal digits as git prints them, e.g. `100644`; absent if the file does not exist on that side. */
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly oldBlob?: string;
  readonly newBlob?: string;
  readonly binary: boolean;
  readonly linesAdded: number;
  readonly linesDeleted: number;
  /** Byte range of this file's section in `diff`. */
  readonly start: number;
  readonly end: number;
}

/** A candidate change, normalised by git itself: the diff from base tree to candidate tree. */
export interface PatchSet {
  /** SHA-256 of `diff`, lower-case hex. */
  readonly digest: string;
  /** `undefined` on an unborn HEAD (the base is the empty tree). */
  readonly baseCommit: string | undefined;
  readonly baseTree: string;
  readonly candidateTree: string;
  readonly format: 'GitDiff' | 'Unified';
  readonly files: readonly PatchFile[];
  /** The whole diff; shared memory, so that scans in workers cost no copy. */
  readonly diff: Uint8Array<SharedArrayBuffer>;
}
