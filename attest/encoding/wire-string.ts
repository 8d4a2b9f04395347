/** Octets with their length before them, as SSH writes a string (RFC 4251, 5). */
export function wireString(octets: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(octets.length);
  return Buffer.concat([length, octets]);
}
