/** How far before the cursor a token begins at most. */
const longest = 1024;

/** The path that is being written at the cursor: behind an `@` that begins a word, in quotes where it holds spaces. */
export function pathToken(
  text: string,
  cursor: number,
): { readonly from: number; readonly sought: string } | undefined {
  const least = Math.max(0, cursor - longest);
  const near = text.slice(least, cursor);
  for (let at = near.lastIndexOf('@'); at >= 0; at = at === 0 ? -1 : near.lastIndexOf('@', at - 1)) {
    const behind = near.slice(at + 1);
    const isQuoted = behind.startsWith('"');
    const sought = isQuoted ? behind.slice(1) : behind;
    if ((isQuoted ? /["\n]/ : /\s/).test(sought)) {
      if (/[\n]/.test(sought)) return undefined;
      continue;
    }
    const from = least + at;
    if (!sought.isWellFormed()) return undefined;
    if (from === 0 || /\s/.test(text.charAt(from - 1))) return { from, sought };
  }
  return undefined;
}
