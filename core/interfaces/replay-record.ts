import type { Difference } from './finding.ts';

/**
 * Decides again what a run decided, from the files of its record by path, and compares them with the digests that
 * somebody else wrote down: the first difference, nothing where the record leads to itself byte for byte.
 */
export type ReplayRecord = (
  files: ReadonlyMap<string, Uint8Array>,
  listed?: ReadonlyMap<string, string>,
) => Promise<Difference | undefined>;
