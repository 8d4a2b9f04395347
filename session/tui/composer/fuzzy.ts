/** Characters of what is sought and of a candidate that are looked at. */
const most = { sought: 128, candidate: 1024 };

/**
 * The candidates that hold the letters of `sought` in their order, the best first: equal, then a beginning, then the
 * beginning of a word, then a part, then scattered letters; of equals the shorter, then the one given first. Whatever
 * the case; all as they are where nothing is sought. Looks at each letter of each candidate once.
 */
export function rankFuzzy<T>(
  candidates: readonly T[],
  sought: string,
  nameOf: (one: T) => string,
): readonly T[] {
  const letters = sought.slice(0, most.sought).toLowerCase();
  if (letters === '') return candidates;
  return candidates
    .map((one, index) => ({ one, index, name: nameOf(one).slice(0, most.candidate).toLowerCase() }))
    .map((entry) => ({ ...entry, score: scoreOf(entry.name, letters) }))
    .filter(({ score }) => score !== undefined)
    .sort((a, b) => (a.score ?? 0) - (b.score ?? 0) || a.name.length - b.name.length || a.index - b.index)
    .map(({ one }) => one);
}

/** Smaller is better; `undefined` where the letters are not there. */
function scoreOf(name: string, letters: string): number | undefined {
  if (name === letters) return 0;
  if (name.startsWith(letters)) return 1;
  const at = name.indexOf(letters);
  if (at > 0) return /[\p{L}\p{N}]/u.test(name.charAt(at - 1)) ? 3 : 2;
  return scattered(name, letters);
}

/** 4, and more for each letter between the first and the last one that is not meant. */
function scattered(name: string, letters: string): number | undefined {
  let [found, first] = [0, 0];
  for (let at = 0; at < name.length; at += 1) {
    if (name[at] !== letters[found]) continue;
    if (found === 0) first = at;
    found += 1;
    if (found === letters.length) return 4 + at - first + 1 - letters.length;
  }
  return undefined;
}
