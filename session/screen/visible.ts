import { unseen } from '../../core/base/printable.ts';
import { commonText } from './common-text.ts';

/** Columns between two tab stops. */
const tabStop = 4;
/** Marks on one character, which more of them would stack over the lines above and below. */
const mostMarks = 4;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\x1b': '\\e' };

/**
 * What is taken as a whole, in this order: an escape sequence that colours or moves, which is gone; what is kept as it
 * is (an emoji of many parts, a joiner between letters of a script that is written with it); a tab; marks in a row.
 */
const readTaken = (): RegExp =>
  new RegExp(
    [
      '(?<sequence>\\x1b\\[[0-?]{0,64}[ -\\/]{0,4}[@-~])',
      '(?<kept>\\p{RGI_Emoji}|(?<=[\\p{sc=Arab}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Sinh}\\p{sc=Mlym}])[\\u200c\\u200d]' +
        '(?=[\\p{sc=Arab}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Sinh}\\p{sc=Mlym}]))',
      '(?<tab>\\t)',
      `(?<marks>\\p{M}{${mostMarks + 1},})`,
      `(?<unseen>${unseen.source})`,
    ].join('|'),
    'gv',
  );

/** Made when it is first needed: that takes some time. */
let taken: RegExp | undefined;

/**
 * Text of anybody as one line of a screen: what a terminal would obey, what is not seen, and what hides or reorders
 * other text stands as an escape; tabs become spaces, other spaces the common one. Sequences that only colour or move
 * are left out.
 */
export function visible(text: string): string {
  if (commonText.test(text)) return text;
  taken ??= readTaken();
  let shown = '';
  let at = 0;
  for (const found of text.matchAll(taken)) {
    shown += text.slice(at, found.index);
    at = found.index + found[0].length;
    const { sequence, kept, tab, marks } = found.groups ?? {};
    if (sequence !== undefined) continue;
    if (kept !== undefined) shown += kept;
    else if (tab !== undefined) shown += ' '.repeat(tabStop - (shown.length % tabStop));
    else if (marks !== undefined) shown += fewMarks(marks);
    else shown += escapeOf(found[0]);
  }
  return shown + text.slice(at);
}

/** The same for text of many lines. */
export function visibleLines(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r]/).map(visible);
}

function escapeOf(one: string): string {
  if (/^\p{Zs}$/u.test(one)) return one === '\u3000' ? '  ' : ' ';
  return named[one] ?? `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`;
}

function fewMarks(marks: string): string {
  const all = [...marks];
  return all.slice(0, mostMarks).join('') + all.slice(mostMarks).map(escapeOf).join('');
}
