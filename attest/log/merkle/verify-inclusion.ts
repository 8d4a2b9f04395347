import { nodeHash } from './hash.ts';

/**
 * Root that an audit path leads to from `leaf` (RFC 9162, 2.1.3.2); `undefined` where the path's length does not fit
 * `index` and `size`. The caller compares it with a signed root.
 */
export function rootFromInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): Buffer | undefined {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size)
    return undefined;
  let fn = index;
  let sn = size - 1;
  let root: Buffer = Buffer.from(leaf);
  for (const sibling of path) {
    if (sn === 0 || sibling.length !== 32) return undefined;
    if (fn % 2 === 1 || fn === sn) {
      root = nodeHash(sibling, root);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      root = nodeHash(root, sibling);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 ? root : undefined;
}
