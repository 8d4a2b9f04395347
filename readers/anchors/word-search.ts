/** A search for any of several texts in bytes. */
export interface WordSearch {
  /** Whether one of them stands between two offsets. */
  found(bytes: Uint8Array, start?: number, end?: number): boolean;
}

/** Texts from this length on share one pass. */
const shared = 4;

/**
 * Prepares a search that reads most texts at every third byte (Wu and Manber, blocks of two): texts of four or more
 * characters share one pass; each shorter one costs a native pass. `fold`: letter case does not count in the longer
 * ones. ASCII only.
 */
export function wordSearch(
  texts: readonly string[],
  { fold = false }: { readonly fold?: boolean } = {},
): WordSearch {
  const long = texts
    .filter(({ length }) => length >= shared)
    .map((text) => Buffer.from(fold ? text.toLowerCase() : text, 'latin1'));
  const short = texts.filter(({ length }) => length < shared).map((text) => Buffer.from(text, 'latin1'));
  const lower = new Uint8Array(256).map((_, byte) => (fold && isUpper(byte) ? byte + 32 : byte));
  /** By two bytes: how far on the shared beginning of a text can end at the earliest. */
  const skip = new Uint8Array(65_536).fill(shared - 1);
  const byBlock = new Map<number, Buffer[]>();
  for (const text of long) {
    for (let at = 1; at < shared; at += 1) {
      for (const block of blocksAt(text, at, fold)) {
        skip[block] = Math.min(skip[block] ?? shared, shared - 1 - at);
        if (at === shared - 1) byBlock.set(block, [...(byBlock.get(block) ?? []), text]);
      }
    }
  }

  const matches = (bytes: Uint8Array, from: number, end: number, text: Buffer): boolean => {
    if (from + text.length > end) return false;
    for (let at = 0; at < text.length; at += 1) if (lower[bytes[from + at] ?? 0] !== text[at]) return false;
    return true;
  };

  return {
    found(bytes, start = 0, end = bytes.length) {
      if (short.length > 0) {
        const part = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
        if (short.some((text) => part.includes(text))) return true;
      }
      if (long.length === 0) return false;
      let at = start + shared - 1;
      while (at < end) {
        const block = ((bytes[at - 1] ?? 0) << 8) | (bytes[at] ?? 0);
        const step = skip[block] ?? 1;
        if (step > 0) {
          at += step;
          continue;
        }
        for (const text of byBlock.get(block) ?? [])
          if (matches(bytes, at - shared + 1, end, text)) return true;
        at += 1;
      }
      return false;
    },
  };
}

/** The block of two bytes that ends there, in every letter case that counts. */
function blocksAt(text: Buffer, at: number, fold: boolean): readonly number[] {
  const cases = (byte: number): readonly number[] =>
    fold && byte >= 97 && byte <= 122 ? [byte, byte - 32] : [byte];
  return cases(text[at - 1] ?? 0).flatMap((first) =>
    cases(text[at] ?? 0).map((second) => (first << 8) | second),
  );
}

function isUpper(byte: number): boolean {
  return byte >= 65 && byte <= 90;
}
