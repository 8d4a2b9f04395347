/* Lines of a screen as spans of text, with untrusted text made safe. */
import { unseen } from '../../core/base/printable.ts';

/* Lines of a screen: spans of text, each with a tone. */
/** How a piece of text is meant; each screen has its own way to show that, and each is readable without colour. */
export type Tone =
  | 'plain'
  | 'dim'
  | 'strong'
  | 'emphasis'
  | 'heading'
  | 'code'
  | 'link'
  | 'quote'
  | 'accent'
  | 'good'
  | 'bad'
  | 'warn'
  | 'added'
  | 'removed'
  /** The part that differs within an added or removed line. */
  | 'added-word'
  | 'removed-word'
  | 'hunk'
  | 'keyword'
  | 'string'
  | 'number'
  | 'comment'
  | 'name'
  | 'selected';

/** Text of one tone; holds no control characters and no line ends. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

export type Line = readonly Span[];

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

export function textOf(line: Line): string {
  return line.map(({ text }) => text).join('');
}

/* Escapes what a terminal would obey and what a reader cannot see. */

const tabStop = 4;
/** Marks on one character, which more of them would stack over the lines above and below. */
const mostMarks = 4;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\x1b': '\\e' };

/**
 * In this order: an escape sequence for colour or movement (removed); text that is kept (an emoji sequence, a joiner
 * in a script that needs it); a tab; stacked marks; other invisible characters.
 */
const buildSpecial = (): RegExp =>
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

/** Compiled when first needed, because that is slow. */
let special: RegExp | undefined;

/**
 * Makes untrusted text safe for one line of a screen: control, invisible and reordering characters become escapes;
 * tabs and other spaces become spaces.
 */
export function visible(text: string): string {
  if (commonText.test(text)) return text;
  special ??= buildSpecial();
  let shown = '';
  let at = 0;
  for (const found of text.matchAll(special)) {
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

/**
 * ASCII, Latin letters, common punctuation and signs of the screens: visible, and one column each. A cheap test that
 * avoids compiling the large expressions.
 */
export const commonText = /^[\x20-\x7e\xa1-\xac\xae-\u024f\u2010-\u2027\u2190-\u2193\u25b8\u2713\u2717]*$/;
