/** Entries `start` (inclusive) to `end` (exclusive): one node of some RFC 6962 tree. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Largest power of two smaller than `count`; `count` ≥ 2. Plain arithmetic, since bit operators stop at 32 bits. */
export function splitPoint(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/** The nodes of an audit path, leaf to root (RFC 6962, 2.1.1). `index` < `size`. */
export function inclusionRanges(index: number, size: number): readonly Range[] {
  const path: Range[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitPoint(end - start);
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/** The nodes of a consistency proof between two sizes (RFC 6962, 2.1.2). Empty where `from` is 0 or equals `to`. */
export function consistencyRanges(from: number, to: number): readonly Range[] {
  if (from === 0 || from === to) return [];
  const path: Range[] = [];
  let start = 0;
  let end = to;
  let whole = true;
  while (from !== end) {
    const middle = start + splitPoint(end - start);
    if (from <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
      whole = false;
    }
  }
  if (!whole) path.push({ start, end });
  return path.reverse();
}
