import type { SensitiveMatch } from '../sensitive-match.ts';

const confidential =
  /(?:STRICTLY CONFIDENTIAL|Strictly Confidential|(?:COMPANY|COMMERCIAL IN|COMMERCIAL-IN-) ?CONFIDEN(?:TIAL|CE)|CONFIDENTIAL(?: AND PROPRIETARY| - .{0,40}| INFORMATION)?|Confidential(?= (?:-|information|and proprietary))|TLP:AMBER(?:\+STRICT)?|TLP:RED|VERTRAULICH|PROPRIETARY AND CONFIDENTIAL)(?![\w'"`(.=-])/y;
const internal =
  /(?:(?:FOR )?INTERNAL (?:USE(?: ONLY)?|ONLY)|Internal (?:use )?only(?=[^\w]|$)|COMPANY INTERNAL|TLP:GREEN|NOT FOR (?:PUBLIC RELEASE|DISTRIBUTION|EXTERNAL USE)|NUR (?:F\xc3\x9cR DEN INTERNEN GEBRAUCH|INTERN))(?![\w'"`(.=-])/y;
/** Only marks of comments, quotes and lists, or the word `classification`, stand before a marking. */
const before = /(?:^|[\n\r"'>]|classification["']?\s{0,2}[:=])[ \t#*/>|=!;[\](){}<"'`-]{0,24}$/i;
const maxParagraph = 48 * 1024;

/** A marking at `at`, and what it covers: its paragraph, from the marking up to an empty line. */
export function matchMarking(text: string, at: number): SensitiveMatch | undefined {
  for (const [form, dataClass] of [
    [confidential, 'confidential'],
    [internal, 'internal'],
  ] as const) {
    form.lastIndex = at;
    const match = form.exec(text);
    if (!match || !before.test(text.slice(Math.max(0, at - 40), at))) continue;
    return { rule: 'marking', class: dataClass, start: at, end: paragraphEnd(text, at + match[0].length) };
  }
  return undefined;
}

function paragraphEnd(text: string, from: number): number {
  const rest = text.slice(from, from + maxParagraph);
  const blank = /\r?\n[ \t]{0,80}\r?\n/.exec(rest);
  return from + (blank ? blank.index : rest.length - (rest.endsWith('\n') ? 1 : 0));
}
