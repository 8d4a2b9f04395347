/** Where something is asked for: in the repository that is named, else in the one around the working directory. */
export interface Place {
  readonly repoPath?: string;
  readonly cwd: string;
}
