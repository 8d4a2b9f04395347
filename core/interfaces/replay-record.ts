import type { Difference } from './finding.ts';

/**
 * Repeats the decisions of a run from the files of its record, by path. Compares the results with the digests that a
 * third party recorded. Returns the first difference, or `undefined` if the record reproduces itself byte for byte.
 */
export type ReplayRecord = (
  files: ReadonlyMap<string, Uint8Array>,
  listed?: ReadonlyMap<string, string>,
) => Promise<Difference | undefined>;
