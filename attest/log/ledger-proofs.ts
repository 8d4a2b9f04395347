import { rangeHash, type SubtreeReader } from './merkle/range-hash.ts';
import { consistencyRanges, inclusionRanges } from './merkle/ranges.ts';
import { isConsistent, type TreeHead } from './merkle/verify-consistency.ts';
import { rootFromInclusion } from './merkle/verify-inclusion.ts';
import { corrupt } from './tile-reader.ts';

/**
 * Audit path of an entry in the tree of `head`, checked before it is given out; LEDGER_CORRUPT where it does not lead
 * to the root.
 */
export async function proveInclusion(
  index: number,
  head: TreeHead,
  subtree: SubtreeReader,
): Promise<readonly Buffer[]> {
  const hashes = await Promise.all(
    inclusionRanges(index, head.size).map((range) => rangeHash(range, subtree)),
  );
  const root = rootFromInclusion(index, head.size, await subtree(0, index), hashes);
  if (root?.equals(head.root) !== true) throw corrupt('tiles and checkpoint disagree', `entry ${index}`);
  return hashes;
}

/**
 * Nodes that show `from` to be a prefix of `to`, as many as RFC 6962 asks for. Whether they do is for the reader to
 * check.
 */
export async function proveConsistency(
  from: number,
  to: TreeHead,
  subtree: SubtreeReader,
): Promise<readonly Buffer[]> {
  return Promise.all(consistencyRanges(from, to.size).map((range) => rangeHash(range, subtree)));
}

/** True when the tiles behind `subtree`, which lead to `to`, also lead to `from`. */
export async function isPrefix(from: TreeHead, to: TreeHead, subtree: SubtreeReader): Promise<boolean> {
  if (from.size > to.size) return false;
  return isConsistent(from, to, await proveConsistency(from.size, to, subtree));
}
