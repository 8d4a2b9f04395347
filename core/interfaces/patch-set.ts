/* A candidate change as rules see it: its diff, its write scope, and the verification inputs of its checks. */
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

/** Where a run may write. Plain data, safe to send to a worker. Patterns are relative to the repository root. */
export interface Scope {
  readonly write: readonly string[];
  readonly forbidden: readonly string[];
  /** True if the spec names no path at all: everything that is not forbidden is in scope. */
  readonly wholeRepository: boolean;
}

/**
 * A file that checks execute, or that configures their verdict. writ finds it by following their commands at the
 * base.
 */
export interface JudgeFile {
  readonly path: string;
  /** `manifest`: only some of its parts are reached. `test`: the rules for test files apply. */
  readonly role: 'script' | 'config' | 'manifest' | 'test';
  /** Ids of checks from which it is reached. */
  readonly checks: readonly string[];
  /** The reference to it: a command, a script of a manifest, a file. */
  readonly via: string;
}

/** The verification inputs: files and programs that the checks of a spec execute to reach their verdict. */
export interface JudgeReach {
  /** In order of path. */
  readonly files: readonly JudgeFile[];
  /** Reached scripts of manifests, by path of the manifest. The hooks of a script belong to it. */
  readonly scripts: Readonly<Record<string, readonly string[]>>;
  /** Programs that run, by the names in commands and scripts. Their configuration counts, new files included. */
  readonly programs: readonly string[];
  /**
   * Paths and globs of absent files that would become verification inputs if they existed, with the reference that
   * names them.
   */
  readonly absent?: Readonly<Record<string, string>>;
  /** Directories in which programs run ('' for the root), and `**` for every one; absent if unknown. */
  readonly places?: readonly string[];
  /** Directories of the tree without the root; absent if there are too many. */
  readonly directories?: readonly string[];
  /** References that were not followed, in words. */
  readonly gaps: readonly string[];
}

/** A path of a verification input at the policy commit, or one that a change adds. */
export interface LaidPath {
  readonly path: string;
  /** For a `package.json` or `composer.json`: only these parts (`scripts.test`, `jest`). Absent: the whole file. */
  readonly parts?: readonly string[];
}
