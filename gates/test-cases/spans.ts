/** A part of a text: from an offset up to, and without, another. */
export type Span = readonly [from: number, to: number];

/** Whether an offset lies in one of the spans; asked many times, each costs the logarithm of their number. */
export type Cover = (offset: number) => boolean;

/** Joins spans, in any order, overlapping or not. */
export function coverOf(spans: readonly Span[]): Cover {
  const joined: { from: number; to: number }[] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else if (to > from) joined.push({ from, to });
  }
  return (offset) => {
    let low = 0;
    let high = joined.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((joined[middle]?.from ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low > 0 && offset < (joined[low - 1]?.to ?? 0);
  };
}
