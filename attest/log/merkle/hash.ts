import { sha256 } from '../../../core/base/digest.ts';

/** Root of the empty tree: SHA-256 of nothing (RFC 6962, 2.1). */
export const emptyRoot: Buffer = sha256('');

const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);

/** RFC 6962 leaf hash: SHA-256(0x00 ‖ entry). */
export function leafHash(entry: Uint8Array): Buffer {
  return sha256(Buffer.concat([leafPrefix, entry]));
}

/** RFC 6962 interior node: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([nodePrefix, left, right]));
}
