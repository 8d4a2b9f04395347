/** C0, DEL, C1, line separators, bidirectional and invisible formatting, byte order mark, tags, lone surrogates. */
const hidden =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** Replaces every character that a reader cannot see but a screen obeys; `code` is its code point in lower-case hex. */
export function revealHidden(text: string, show: (found: string, code: string) => string): string {
  return text.replace(hidden, (found) => show(found, (found.codePointAt(0) ?? 0).toString(16)));
}
