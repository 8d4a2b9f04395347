/**
 * A Markdown code span that shows untrusted text as it is, on one line; hidden and direction-changing characters are
 * spelled out.
 */
export function codeSpan(text: string): string {
  const shown = text
    .toWellFormed()
    .replaceAll(/[\s\u2028\u2029]+/g, ' ')
    .trim()
    .replaceAll(
      /[\p{Cc}\p{Cf}]/gu,
      (hidden) => `[U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const padding = longest > 0 || shown === '' ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}
