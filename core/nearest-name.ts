const maxLength = 64;

/** The known name that `given` was most likely meant to be; `undefined` when none is close (a third of its letters, at most three). */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > maxLength) return undefined;
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    if (name.length > maxLength) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (
      distance <= Math.min(3, Math.ceil(name.length / 3)) &&
      (best === undefined || distance < best.distance)
    ) {
      best = { name, distance };
    }
  }
  return best?.name;
}

/** Levenshtein distance with one row of memory. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
