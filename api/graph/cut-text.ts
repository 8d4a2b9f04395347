/** At most so many characters, whole ones; what is cut off ends in `…`. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  // Half a pair of surrogates would stand at the end.
  const kept = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  return `${kept}…`;
}

/** The same, on one line. */
export function toLine(text: string, most: number): string {
  return cutText(
    text
      .slice(0, 4 * most)
      .replace(/\s+/g, ' ')
      .trim(),
    most,
  );
}
