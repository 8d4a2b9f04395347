/** East Asian wide and emoji: two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Marks on the character before: none. */
const joined = /\p{Mn}|\p{Me}/u;

/** Columns of a terminal that printable text takes. */
export function cellWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += widthOf(char);
  return width;
}

/** At most so many columns of the text; what is cut off ends in `…`. */
export function clipCells(text: string, most: number): string {
  if (cellWidth(text) <= most) return text;
  let [kept, width] = ['', 0];
  for (const char of text) {
    width += widthOf(char);
    if (width > most - 1) break;
    kept += char;
  }
  return most < 1 ? '' : `${kept}…`;
}

function widthOf(char: string): number {
  if (joined.test(char)) return 0;
  return wide.test(char) ? 2 : 1;
}
