import type { GitDirectory } from '../../workspace/git/git.ts';
import { readSmall } from '../../workspace/git/read-each.ts';
import { sealPaths } from './seal-paths.ts';

/** A log proof is a few kilobytes. */
const maxProofBytes = 256 * 1024;

/**
 * The log proofs of records, by the id of the record: the renewed one if there is one. A record without a proof, or
 * with one too large, has none.
 */
export async function readLogProofs(
  place: GitDirectory,
  records: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const namesOf = (record: string): readonly string[] =>
    [sealPaths.renewedProof, sealPaths.proof].map((path) => `${record}:${path}`);
  const found = await readSmall(place, records.flatMap(namesOf), maxProofBytes);
  return new Map(
    records.flatMap((record) => {
      const [renewed, first] = namesOf(record).map((name) => found.get(name));
      const proof = renewed ?? first;
      return proof === undefined ? [] : [[record, proof] as const];
    }),
  );
}
