/* Searches bytes for any of many texts in one pass. */
/** Bytes of an anchor that are looked at first. */
const width = 4;
/** Bits of a filter, as a power of two; keys are spread over it by a factor (Knuth, 6.4). */
const filterBits = 18;
const spread = 0x9e3779b1;
const toBit = 32 - filterBits;
const beyondLatin1 = /[^\x00-\xff]/;

/** Called with each place of an anchor. True: the rest of the range need not be searched. */
type AnchorFound<Owner> = (owner: Owner, offset: number) => boolean;

/** Finds any of many texts in bytes. */
export interface AnchorSearch<Owner> {
  /** Finds every place in `[start, end)` where an anchor is whole, in order. */
  scan(bytes: Uint8Array, start: number, end: number, found: AnchorFound<Owner>): void;
}

interface Entry<Owner> {
  /** Of latin1 characters: a byte each. */
  readonly anchor: string;
  readonly owner: Owner;
}

/**
 * Builds a search for anchors of at least four latin1 characters. One pass reads four bytes at every offset; a filter
 * of bits lets few of them pass to the table of anchors by their first four bytes.
 */
export function createAnchorSearch<Owner>(
  anchors: Iterable<readonly [owner: Owner, anchor: string]>,
): AnchorSearch<Owner> {
  const filter = new Int32Array(1 << (filterBits - 5));
  const entries = new Map<number, Entry<Owner>[]>();
  for (const [owner, anchor] of anchors) {
    if (anchor.length < width || beyondLatin1.test(anchor))
      throw new RangeError(`expected an anchor of at least ${width} latin1 characters, found \`${anchor}\``);
    const key = keyOf(anchor);
    const bit = Math.imul(key, spread) >>> toBit;
    filter[bit >>> 5] = (filter[bit >>> 5] as number) | (1 << (bit & 31));
    const known = entries.get(key);
    if (known) known.push({ anchor, owner });
    else entries.set(key, [{ anchor, owner }]);
  }

  return {
    scan(bytes, start, end, found) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = start; at <= end - width; at += 1) {
        const key = view.getInt32(at, true);
        const bit = Math.imul(key, spread) >>> toBit;
        if (((filter[bit >>> 5] as number) & (1 << (bit & 31))) === 0) continue;
        for (const { anchor, owner } of entries.get(key) ?? []) {
          if (at + anchor.length > end || !isAt(view, anchor, at)) continue;
          if (found(owner, at)) return;
        }
      }
    },
  };
}

function isAt(data: DataView, text: string, from: number): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (data.getUint8(from + index) !== text.charCodeAt(index)) return false;
  return true;
}

/** The first four characters as `getInt32` reads their bytes. */
function keyOf(text: string): number {
  return (
    text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16) | (text.charCodeAt(3) << 24)
  );
}

/** A search for any of several texts in bytes. */
export interface WordSearch {
  /** Whether one of the texts occurs between two offsets. */
  found(bytes: Uint8Array, start?: number, end?: number): boolean;
}

/** Texts from this length on share one pass; each shorter one costs a native pass. */
const shared = width;

/** Prepares a search for any of several latin1 texts. `fold`: letter case does not count. */
export function wordSearch(
  texts: readonly string[],
  { fold = false }: { readonly fold?: boolean } = {},
): WordSearch {
  const words = fold ? texts.map((text) => text.toLowerCase()) : texts;
  const search = createAnchorSearch(
    words.filter(({ length }) => length >= shared).map((text) => [true, text] as const),
  );
  const short = words.filter(({ length }) => length < shared);
  return {
    found(bytes, start = 0, end = bytes.length) {
      const part = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
      const read = fold ? Buffer.from(part.toString('latin1').toLowerCase(), 'latin1') : part;
      if (short.some((text) => read.includes(text, 0, 'latin1'))) return true;
      let isFound = false;
      search.scan(read, 0, read.length, () => {
        isFound = true;
        return true;
      });
      return isFound;
    },
  };
}
