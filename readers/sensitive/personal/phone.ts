import type { SensitiveMatch } from '../sensitive-match.ts';

/** E.164: a plus, a country code and a subscriber number, 8 to 15 digits in all, in groups. */
const international = /\+[1-9](?:[ ()./-]{0,2}\d){7,14}/y;
/** North American numbers: neither area nor exchange begins with 0 or 1. */
const northAmerican = /(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}/y;
const french = /0[1-9](?:[ .-]\d{2}){4}/y;
const british = /0(?:2\d \d{4} \d{4}|1\d1 \d{3} \d{4}|\d{4} \d{6}|7\d{3} \d{6})/y;
/** Any number behind a word that says what it is. */
const named = /\(?\d(?:[ ()./-]{0,2}\d){6,14}/y;
const phoneWords =
  /(?:\btel\b|tel(?:e(?:ph|f)on)?[a-zé]{0,3}|phone|\bfon\b|mobil[a-z]{0,4}|\bcell\b|\bfax\b|handy|rufnummer)(?:[ _-]?(?:no|nr|num(?:ber|mer|ero)?))?["'\]]{0,2}[ .:=#]{0,4}["']?$/i;

/** A telephone number that begins at `at`. Numbers of the 555-01xx block are given to nobody. */
export function matchPhone(text: string, at: number): SensitiveMatch | undefined {
  const before = text.slice(Math.max(0, at - 32), at);
  for (const form of [international, northAmerican, french, british, named]) {
    if (form === named && !phoneWords.test(before)) continue;
    form.lastIndex = at;
    const match = form.exec(text);
    if (!match || /[\w]/.test(text.charAt(at + match[0].length))) continue;
    // A longer dotted or dashed number is something else: a version, a serial number.
    if (
      form !== international &&
      form !== named &&
      /[-.]\d/.test(text.slice(at + match[0].length, at + match[0].length + 2))
    )
      continue;
    const reserved = /555[-. ]?01\d\d$/.test(match[0]);
    return {
      rule: 'phone',
      class: 'pii',
      start: at,
      end: at + match[0].length,
      ...(reserved ? { reserved } : {}),
    };
  }
  return undefined;
}
