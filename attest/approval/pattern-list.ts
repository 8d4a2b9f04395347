/**
 * True where `text` fits a comma-separated list of patterns (ssh_config(5), PATTERNS): `*` and `?` are wildcards, case
 * counts, and a fitting pattern after `!` refuses whatever the others say. A list of negations alone fits nothing.
 */
export function fitsPatternList(text: string, list: string): boolean {
  let fits = false;
  for (const pattern of list.split(',')) {
    const negated = pattern.startsWith('!');
    if (!fitsPattern(text, negated ? pattern.slice(1) : pattern)) continue;
    if (negated) return false;
    fits = true;
  }
  return fits;
}

/** Members of a pattern list that name exactly one thing. */
export function literalsOf(list: string): readonly string[] {
  return list
    .split(',')
    .filter((pattern) => pattern !== '' && !/[*?]/.test(pattern) && !pattern.startsWith('!'));
}

/**
 * Two pointers: after a mismatch only the last `*` takes one character more, so the work is bounded by the product of
 * the lengths.
 */
function fitsPattern(text: string, pattern: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const want = pattern[place];
    if (want === '*') {
      star = place;
      resume = at;
      place += 1;
    } else if (want === '?' || (want !== undefined && want === text[at])) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      place = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (pattern[place] === '*') place += 1;
  return place === pattern.length;
}
