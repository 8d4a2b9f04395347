/** The place of an attempt: its workspace, and a directory that only its commands write to. */
export interface HandPlace {
  readonly workspace: string;
  readonly reports: string;
}
