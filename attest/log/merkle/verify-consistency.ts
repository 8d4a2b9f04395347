import { emptyRoot, nodeHash } from './hash.ts';

/** One tree head to compare. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** True when `proof` shows that the tree of `from` is a prefix of the tree of `to` (RFC 9162, 2.1.4.2). */
export function isConsistent(from: TreeHead, to: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (!Number.isSafeInteger(from.size) || !Number.isSafeInteger(to.size)) return false;
  if (from.size < 0 || from.size > to.size) return false;
  if (from.size === 0)
    return proof.length === 0 && same(from.root, emptyRoot) && (to.size > 0 || same(to.root, emptyRoot));
  if (from.size === to.size) return proof.length === 0 && same(from.root, to.root);
  let fn = from.size - 1;
  let sn = to.size - 1;
  while (fn % 2 === 1) {
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  // A complete old tree is its own first node; the proof leaves it out.
  const path = fn === 0 ? [from.root, ...proof] : proof;
  const [first, ...rest] = path;
  if (first === undefined || path.some((node) => node.length !== 32)) return false;
  let oldRoot: Buffer = Buffer.from(first);
  let newRoot: Buffer = Buffer.from(first);
  for (const node of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      oldRoot = nodeHash(node, oldRoot);
      newRoot = nodeHash(node, newRoot);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      newRoot = nodeHash(newRoot, node);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 && same(oldRoot, from.root) && same(newRoot, to.root);
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
