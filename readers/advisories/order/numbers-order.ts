/**
 * Order of versions that are numbers alone; a missing number is 0. Of the first `length` numbers where that is given,
 * else of all.
 */
export function compareNumbers(
  left: readonly number[],
  right: readonly number[],
  length: number = Math.max(left.length, right.length),
): number {
  for (let at = 0; at < length; at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
