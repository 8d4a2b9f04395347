import { emptyRoot, nodeHash } from './hash.ts';
import { type Range, splitPoint } from './ranges.ts';

/** Gives the hash of the complete subtree of 2^`height` leaves that begins at leaf `index` × 2^`height`. */
export type SubtreeReader = (height: number, index: number) => Promise<Buffer>;

/**
 * RFC 6962 hash of entries `start` to `end`, from complete subtrees only: O(log n) reads.
 * `range` must be a node of a tree, i.e. its start is a multiple of the power of two that covers it.
 */
export async function rangeHash(range: Range, subtree: SubtreeReader): Promise<Buffer> {
  const count = range.end - range.start;
  if (count === 0) return emptyRoot;
  let height = 0;
  while (2 ** height < count) height += 1;
  if (2 ** height === count) return subtree(height, range.start / count);
  const middle = range.start + splitPoint(count);
  const left = await rangeHash({ start: range.start, end: middle }, subtree);
  return nodeHash(left, await rangeHash({ start: middle, end: range.end }, subtree));
}
