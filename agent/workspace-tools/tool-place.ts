/** The place of an attempt: its workspace, and a directory that only its commands write to. */
export interface ToolPlace {
  readonly workspace: string;
  readonly reports: string;
  /** Creates, on first use, the directory with the stubs that replace version control for commands. */
  readonly stubs: () => Promise<string>;
}
