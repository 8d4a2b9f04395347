/** A file or ref that was removed, or that a dry run would remove. */
export interface Removed {
  /**
   * `content`: artifacts past their retention · `context`: what retrieval found, of such a run · `run-directory`: what
   * a run that is over kept for going on · `workspace`: private directories of ended runs · `temporary`: of killed
   * writes · `git-lock`: locks and claims of killed processes.
   */
  readonly kind: 'content' | 'context' | 'run-directory' | 'workspace' | 'temporary' | 'git-lock';
  /** Ref or path. */
  readonly where: string;
  readonly runId?: string;
  /** How many files of it; absent where all of it. */
  readonly files?: number;
  readonly bytes: number;
}
