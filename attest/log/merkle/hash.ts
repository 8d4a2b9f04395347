import { sha256 } from '../../../core/base/digest.ts';

/** Root of the empty tree: SHA-256 of nothing (RFC 6962, 2.1). */
export const emptyRoot: Buffer = sha256('');

const leafPrefix = Buffer.of(0);
/** 0x01 ‖ left ‖ right. One for all: hashing is synchronous, and a tree of a million would make a million. */
const node = Buffer.alloc(65, 1);

/** RFC 6962 leaf hash: SHA-256(0x00 ‖ entry). */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(Buffer.concat([leafPrefix, entry]));
}

/** RFC 6962 interior node: SHA-256(0x01 ‖ left ‖ right); RangeError for what is no hash. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (left.length !== 32 || right.length !== 32)
    throw new RangeError('a node is made of two hashes of 32 octets');
  node.set(left, 1);
  node.set(right, 33);
  return sha256(node);
}
