/** What `swap-source.ts` is told in `WRIT_REMOVAL`, as JSON. */
export interface Swap {
  /** Of the module, as Node writes it. */
  readonly url: string;
  readonly from: string;
  readonly to: string;
  /** Id of the process that asks what the run costs. */
  readonly startedBy: number;
}
