/** Sum of a tar header's bytes, its own field taken for blanks. */
export function tarChecksum(header: Buffer): number {
  let sum = 0;
  for (const [at, octet] of header.entries()) sum += at >= 148 && at < 156 ? 32 : octet;
  return sum;
}
