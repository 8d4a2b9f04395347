/* RFC 6962 trees: hashes, the nodes of proofs, and their verification (RFC 9162). */
import { sha256 } from '../../core/base/canonical.ts';

/** Root of the empty tree: SHA-256 of the empty string (RFC 6962, 2.1). */
export const emptyRoot: Buffer = sha256('');

const leafPrefix = Buffer.of(0);
/** 0x01 ‖ left ‖ right. One for all: hashing is synchronous, and a tree of a million would make a million. */
const node = Buffer.alloc(65, 1);

/** RFC 6962 leaf hash: SHA-256(0x00 ‖ entry). */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(Buffer.concat([leafPrefix, entry]));
}

/** RFC 6962 interior node: SHA-256(0x01 ‖ left ‖ right). Throws RangeError for an input that is not 32 bytes long. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== 32 || right.length !== 32)
    throw new RangeError('a node is made of two hashes of 32 octets');
  node.set(left, 1);
  node.set(right, 33);
  return sha256(node);
}

/** Entries `start` (inclusive) to `end` (exclusive): one node of some RFC 6962 tree. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Largest power of two smaller than `count`; `count` ≥ 2. Plain arithmetic, since bit operators stop at 32 bits. */
function splitPoint(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/** The nodes of an audit path, leaf to root (RFC 6962, 2.1.1). `index` < `size`. */
export function inclusionRanges(index: number, size: number): readonly Range[] {
  const path: Range[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitPoint(end - start);
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/** The nodes of a consistency proof between two sizes (RFC 6962, 2.1.2). Empty where `from` is 0 or equals `to`. */
export function consistencyRanges(from: number, to: number): readonly Range[] {
  if (from === 0 || from === to) return [];
  const path: Range[] = [];
  let start = 0;
  let end = to;
  let whole = true;
  while (from !== end) {
    const middle = start + splitPoint(end - start);
    if (from <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
      whole = false;
    }
  }
  if (!whole) path.push({ start, end });
  return path.reverse();
}

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
