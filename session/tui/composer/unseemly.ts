/** A sign that a terminal must not get, or that would show a text in another order than it is sent in. */
export const unseemly = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;

const several = new RegExp(`${unseemly.source}+`, 'gu');

/** The beginning of a text on one line, for a row that shows that much at most. */
export function onOneLine(text: string, units: number): string {
  return text.slice(0, units).toWellFormed().replace(several, ' ');
}
