import { crc32 } from 'node:zlib';

/** Octets that one stored block of deflate holds. */
const maxStored = 65_535;

/**
 * Bytes as gzip, stored and not deflated: how well a version of zlib packs is then no part of the result (RFC 1951,
 * 3.2.4; RFC 1952).
 */
export function storeGzip(bytes: Uint8Array): Buffer {
  // No name, no time, no system that it was made on.
  const parts: Uint8Array[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])];
  for (let from = 0; from === 0 || from < bytes.length; from += maxStored) {
    const piece = bytes.subarray(from, from + maxStored);
    const head = Buffer.alloc(5);
    head.writeUInt8(from + maxStored >= bytes.length ? 1 : 0, 0);
    head.writeUInt16LE(piece.length, 1);
    head.writeUInt16LE(0xffff - piece.length, 3);
    parts.push(head, piece);
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(bytes), 0);
  tail.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([...parts, tail]);
}
