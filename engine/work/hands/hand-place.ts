/** The place of an attempt: its workspace, and a directory that only its commands write to. */
export interface HandPlace {
  readonly workspace: string;
  readonly reports: string;
  /** A directory with what its commands find in place of version control; made when it is asked for. */
  readonly stubs: () => Promise<string>;
}
