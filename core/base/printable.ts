/** Text of unknown origin, short and without control characters, for messages. */
export function printable(text: string): string {
  const flat = text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return flat.length <= 200 ? flat : `${flat.slice(0, 200)}…`;
}
