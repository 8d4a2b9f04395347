const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** What people take for single characters: an emoji of many parts is one, and a letter with its marks. */
export function graphemes(text: string): readonly string[] {
  if (/^[\x20-\x7e]*$/.test(text)) return text.split('');
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
