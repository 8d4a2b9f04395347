/**
 * Orders versions that consist of numbers only; a missing number counts as 0. Compares the first `length` numbers, or
 * all. A module without dependencies: `writ spec validate` loads it.
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
