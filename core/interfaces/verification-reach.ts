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
