/** Paths for messages, the first `most` of them: `` `a`, `b` and 3 more paths ``. */
export function namePaths(paths: readonly string[], most = 1): string {
  const named = paths.slice(0, most).map((path) => `\`${printable(path)}\``);
  const more = paths.length - named.length;
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more paths`}`;
}

/** Text of unknown origin, short and without control characters, for messages. */
export function printable(text: string): string {
  const flat = text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return flat.length <= 200 ? flat : `${flat.slice(0, 200)}…`;
}
