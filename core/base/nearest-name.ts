const longest = 64;

/**
 * The known name that a typing slip explains best, or nothing: at most a third of the letters wrong, or a long enough
 * beginning.
 */
export function nearestName(typed: string, candidates: Iterable<string>): string | undefined {
  if (typed.length === 0 || typed.length > longest) return undefined;
  const allowed = Math.min(3, Math.ceil(typed.length / 3));
  const known = [...candidates].filter((name) => name.length <= longest);
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const candidate of known) {
    const distance = editDistance(typed.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? (typed.length >= 3 ? known.find((candidate) => candidate.startsWith(typed)) : undefined);
}

/** Damerau-Levenshtein (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      ) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current[column] = cost;
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
