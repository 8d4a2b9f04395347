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
  /**
   * Finds every place in `[start, end)` where an anchor is whole, about in order: two that overlap may be reported the
   * other way round.
   */
  scan(bytes: Uint8Array, start: number, end: number, found: AnchorFound<Owner>): void;
}

interface Entry<Owner> {
  /** Of latin1 characters: a byte each. */
  readonly anchor: string;
  /** Of the four bytes in the anchor. */
  readonly offset: number;
  readonly owner: Owner;
}

/**
 * Builds a search for anchors of at least four latin1 characters. One pass reads three bytes at every second offset:
 * within any four bytes, one such offset holds either the first or the last three. No step depends on data read
 * earlier, so the processor can run several in parallel.
 */
export function createAnchorSearch<Owner>(
  anchors: Iterable<readonly [owner: Owner, anchor: string]>,
): AnchorSearch<Owner> {
  const threes = new Int32Array(1 << (filterBits - 5));
  const fours = new Int32Array(1 << (filterBits - 5));
  const entries = new Map<number, Entry<Owner>[]>();
  for (const [owner, anchor] of anchors) {
    if (anchor.length < width || beyondLatin1.test(anchor))
      throw new RangeError(`expected an anchor of at least ${width} latin1 characters, found \`${anchor}\``);
    const offset = anchor.length === width ? 0 : rarestWindow(anchor);
    const key = keyAt(anchor, offset);
    mark(threes, key & 0xffffff);
    mark(threes, key >>> 8);
    mark(fours, key);
    const entry = { anchor, offset, owner };
    const known = entries.get(key);
    if (known) known.push(entry);
    else entries.set(key, [entry]);
  }

  return {
    scan(bytes, start, end, found) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const last = end - width;
      const next = (from: number): number => nextPlace(view, start, from, last, threes, fours);
      for (let place = next(start); place >= 0; place = next(place + 1)) {
        for (const entry of entries.get(view.getInt32(place, true)) ?? []) {
          const from = place - entry.offset;
          if (from < start || from + entry.anchor.length > end) continue;
          if (entry.anchor.length > width && !isAt(view, entry.anchor, from)) continue;
          if (found(entry.owner, from)) return;
        }
      }
    },
  };
}

/** The first place from `from` to `last` at which both filters let four bytes pass, or -1. */
function nextPlace(
  view: DataView,
  start: number,
  from: number,
  last: number,
  threes: Int32Array,
  fours: Int32Array,
): number {
  let at = from + ((from - start) & 1);
  for (; at <= last; at += 2) {
    const next = view.getInt32(at, true);
    const three = Math.imul(next & 0xffffff, spread) >>> toBit;
    if (((threes[three >>> 5] as number) & (1 << (three & 31))) === 0) continue;
    if (at > from) {
      const before = Math.imul(view.getInt32(at - 1, true), spread) >>> toBit;
      if (((fours[before >>> 5] as number) & (1 << (before & 31))) !== 0) return at - 1;
    }
    const four = Math.imul(next, spread) >>> toBit;
    if (((fours[four >>> 5] as number) & (1 << (four & 31))) !== 0) return at;
  }
  // The last of an odd number of places has no neighbour.
  return at - 1 === last && last >= from ? last : -1;
}

function mark(filter: Int32Array, key: number): void {
  const bit = Math.imul(key, spread) >>> toBit;
  filter[bit >>> 5] = (filter[bit >>> 5] as number) | (1 << (bit & 31));
}

function isAt(data: DataView, text: string, from: number): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (data.getUint8(from + index) !== text.charCodeAt(index)) return false;
  return true;
}

/** Four characters as `getInt32` reads their bytes. */
function keyAt(text: string, at: number): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  );
}

/** The most common words in source code: their parts are poor search keys. */
const common =
  'function const return import export from this value values string number default type types interface public private static class ' +
  'extends options option object array name names length else while break case true false null undefined void async await require module ' +
  'exports node index error message data file path test instruction structure action section version information declare readonly the and for';
const commonParts = new Set(Array.from(common, (_, at) => common.slice(at, at + 3)));

/**
 * Offset of the four bytes of an anchor that are rarest in text: punctuation, digits and capitals rather than parts
 * of common words.
 */
function rarestWindow(anchor: string): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let offset = 0; offset + width <= anchor.length; offset += 1) {
    let rarity = 0;
    for (let at = offset; at < offset + width; at += 1) if (!isLowerCase(anchor.charCodeAt(at))) rarity += 1;
    if (commonParts.has(anchor.slice(offset, offset + 3))) rarity -= 3;
    if (commonParts.has(anchor.slice(offset + 1, offset + width))) rarity -= 3;
    if (rarity > most) [best, most] = [offset, rarity];
  }
  return best;
}

function isLowerCase(code: number): boolean {
  return code >= 97 && code <= 122;
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
