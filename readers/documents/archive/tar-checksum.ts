/** Sum of a tar header's bytes, with its checksum field counted as blanks. */
export function tarChecksum(header: Buffer): number {
  let sum = 0;
  for (const [at, octet] of header.entries()) sum += at >= 148 && at < 156 ? 32 : octet;
  return sum;
}
