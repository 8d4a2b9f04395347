import type { GitDirectory } from '../../vcs/git.ts';
import { readSmall } from '../../vcs/read-each.ts';
import { sealPaths } from './seal-paths.ts';

/** A log proof is a few kilobytes. */
const maxProofBytes = 256 * 1024;

/** The log proofs of records, by the id of the record; a record without a proof, or with one too large, has none. */
export async function readLogProofs(
  place: GitDirectory,
  records: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const nameOf = (record: string): string => `${record}:${sealPaths.proof}`;
  const found = await readSmall(place, records.map(nameOf), maxProofBytes);
  return new Map(
    records.flatMap((record) => {
      const proof = found.get(nameOf(record));
      return proof === undefined ? [] : [[record, proof] as const];
    }),
  );
}
