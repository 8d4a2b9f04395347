import type { Found } from './problem.ts';

/**
 * What a ledger's check found. `index`: the entry that is wrong; `from`: every entry from there on rests on it; `ref`:
 * only that run does; none of them: all entries.
 */
export interface LedgerFindings {
  readonly entries: number;
  readonly problems: readonly (Found & {
    readonly index?: number;
    readonly from?: number;
    readonly ref?: string;
  })[];
}
