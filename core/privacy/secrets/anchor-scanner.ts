/** Bytes of every anchor: one that is shorter in its format is spelt out with each byte that may stand next to it. */
const width = 4;
const hashBits = 18;

/** Where any of a set of anchors stands, found by skipping over bytes. */
export interface AnchorScanner {
  /** Offset of the next place in `[from, to)` where an anchor begins, or -1. Rarely a place where none does: every use looks again. */
  next(bytes: Uint8Array, from: number, to: number): number;
}

/**
 * Compiles anchors of exactly four bytes (Wu and Manber, block of two bytes). Most steps skip three bytes, so that text without anchors
 * is read about as fast as memory gives it.
 */
export function createAnchorScanner(anchors: Iterable<string>): AnchorScanner {
  // Seven bits of each byte: the table fits the first-level cache, and what falls together is told apart by the hash.
  const shift = new Uint8Array(1 << 14).fill(width - 1);
  const lower = (first: number, second: number, step: number): void => {
    const index = ((first & 127) << 7) | (second & 127);
    shift[index] = Math.min(shift[index] as number, step);
  };
  const known = new Uint8Array(1 << hashBits);
  for (const anchor of anchors) {
    const codes = [...anchor].map((char) => char.charCodeAt(0));
    const [a = 0, b = 0, c = 0, d = 0] = codes;
    if (codes.length !== width || codes.some((code) => code > 255))
      throw new RangeError(`expected an anchor of ${width} latin1 characters, found \`${anchor}\``);
    lower(a, b, 2);
    lower(b, c, 1);
    lower(c, d, 0);
    known[hashOf(a, b, c, d)] = 1;
  }
  return {
    next(bytes, from, to) {
      for (let at = from + width - 1; at < to; ) {
        const step = shift[
          (((bytes[at - 1] as number) & 127) << 7) | ((bytes[at] as number) & 127)
        ] as number;
        if (step > 0) {
          at += step;
          continue;
        }
        const hash = hashOf(
          bytes[at - 3] as number,
          bytes[at - 2] as number,
          bytes[at - 1] as number,
          bytes[at] as number,
        );
        if (known[hash] === 1) return at - 3;
        at += 1;
      }
      return -1;
    },
  };
}

function hashOf(a: number, b: number, c: number, d: number): number {
  return Math.imul((a << 24) | (b << 16) | (c << 8) | d, 0x9e3779b1) >>> (32 - hashBits);
}
