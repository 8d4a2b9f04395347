/**
 * At most so many bytes of a text, whole characters, and a line that says what is missing. Without a bound, all of it.
 */
export function cutText(text: string, maxBytes: number | undefined): string {
  const bytes = Buffer.from(text);
  if (maxBytes === undefined || bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}\n[cut: ${end} of ${bytes.length} bytes; a rule of the contract lets through no more]`;
}
