/**
 * Past the string that opens at `at`: behind its closing quote, or at the end of the line where it does not close on
 * it.
 */
export function skipString(text: string, at: number): number {
  const quote = text.charCodeAt(at);
  for (let index = at + 1; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index + 1;
    if (unit === 0x0a) return index;
    if (unit === 0x5c) index += 1;
  }
  return text.length;
}
