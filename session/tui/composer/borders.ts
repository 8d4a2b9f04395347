const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** How far around a place is looked, so that a text of megabytes costs what a line does; in UTF-16 units. */
const reach = 1024;

/**
 * The border of a grapheme at `at`, else the nearest before it. A grapheme of more than 1,024 units is cut: what a
 * person reads as one sign never is that long.
 */
export function borderAtOrBefore(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  if (isPlain(text.charCodeAt(at - 1)) && isPlain(text.charCodeAt(at))) return at;
  const from = Math.max(0, at - reach);
  const found = segmenter.segment(text.slice(from, at + reach)).containing(at - from);
  return from + (found?.index ?? 0);
}

/** The border at `at`, else the nearest behind it. */
export function borderAtOrAfter(text: string, at: number): number {
  const before = borderAtOrBefore(text, at);
  return before >= at ? before : borderAfter(text, before);
}

/** The border behind the one at `at`; the end of the text where there is none. */
export function borderAfter(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const [first] = segmenter.segment(text.slice(at, at + reach));
  return at + (first?.segment.length ?? 1);
}

/** The border before the one at `at`; 0 where there is none. */
export function borderBefore(text: string, at: number): number {
  if (at <= 1) return 0;
  const from = Math.max(0, at - reach);
  const found = segmenter.segment(text.slice(from, at)).containing(at - from - 1);
  return from + (found?.index ?? 0);
}

/** Whether there is always a border between two of these. */
function isPlain(unit: number): boolean {
  return unit >= 0x20 && unit <= 0x7e;
}
