/**
 * Control characters, the ends of lines and paragraphs, what turns the direction of text, and what takes no place of
 * its own; but not what joins letters or emoji, or says how they look.
 */
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\ufe00-\ufe0f\u{e0020}-\u{e007f}]]]/gv;

/** Text as a terminal may be given it. Whoever makes a span with such characters is at fault; here they end. */
export function seenText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replaceAll('\t', ' ').replace(unseen, '').toWellFormed();
}
