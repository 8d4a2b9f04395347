/* Rows of a terminal: cells with a look, and the themes that choose it. */
import { type Line, span, type Tone } from '../../screen/line.ts';
import { cellsOf } from '../../screen/wrap.ts';

export interface Cell {
  readonly text: string;
  readonly width: number;
  readonly look: string;
  /** Terminals disagree about its width: an emoji, or several characters drawn as one. */
  readonly loose: boolean;
}

export type Row = readonly Cell[];

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const looseSigns =
  /[\p{Extended_Pictographic}\p{Regional_Indicator}\p{Emoji_Modifier}\p{Co}\p{Cn}]|[\u200c\u200d]|[\ufe0e\ufe0f]/u;

/** A line as cells without trailing blanks, however long it is. */
export function toRow(line: Line, theme: Theme): Row {
  const cells: Cell[] = [];
  for (const { text, tone } of withWords(line, theme)) addText(cells, seenText(text), theme.look[tone] ?? '');
  return withoutBlanks(cells);
}

export function columnsOf(row: Row, end = row.length): number {
  let columns = 0;
  for (let at = 0; at < end; at += 1) columns += row[at]?.width ?? 0;
  return columns;
}

/** The part of a row that fits. */
export function cutRow(row: Row, columns: number): Row {
  let used = 0;
  const end = row.findIndex(({ width }) => {
    used += width;
    return used > columns;
  });
  return end === -1 ? row : withoutBlanks(row.slice(0, end));
}

/** Rows that a row occupies after the terminal became narrower. */
export function rowsWithin(row: Row, columns: number): number {
  let rows = 1;
  let used = 0;
  for (const { width } of row) {
    if (used + width > columns && used > 0) {
      rows += 1;
      used = 0;
    }
    used += width;
  }
  return rows;
}

export function sameCell(one: Cell | undefined, other: Cell | undefined): boolean {
  return one === other || (one?.text === other?.text && one?.look === other?.look);
}

function addText(cells: Cell[], text: string, look: string): void {
  if (/^[\x20-\x7e]*$/.test(text)) {
    for (const char of text) cells.push({ text: char, width: 1, look, loose: false });
    return;
  }
  for (const { segment } of segmenter.segment(text)) {
    const width = cellsOf(segment);
    const last = cells.at(-1);
    if (width > 0) cells.push({ text: segment, width, look, loose: isLoose(segment) });
    // A mark at the beginning of a span belongs to the cell before it.
    else if (last !== undefined && /\p{M}/u.test(segment)) {
      cells[cells.length - 1] = { ...last, text: last.text + segment, loose: true };
    }
  }
}

/** Marks above and below a letter are drawn as one with it everywhere. */
function isLoose(segment: string): boolean {
  return looseSigns.test(segment) || !/^.\p{Mn}*$/su.test(segment);
}

function withoutBlanks(row: Cell[]): Row {
  while (isBlank(row.at(-1))) row.pop();
  return row;
}

function isBlank(cell: Cell | undefined): boolean {
  return cell !== undefined && cell.text === ' ' && cell.look !== '4' && cell.look !== '7';
}

/** Control, bidi and default-ignorable characters, except those that join letters or select the look of an emoji. */
const unseen =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\ufe00-\ufe0f\u{e0020}-\u{e007f}]]]/gv;

/** Removes characters that no span may hold; a last guard before the terminal. */
function seenText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replaceAll('\t', ' ').replace(unseen, '').toWellFormed();
}

/** The sequence from one look to another. */
export function changeLook(from: string, to: string): string {
  if (from === to) return '';
  if (to === '') return '\x1b[m';
  return from === '' ? `\x1b[${to}m` : `\x1b[;${to}m`;
}

/** Themes that a person may choose in `[screen]` of their own configuration. */
export const chosenThemes = ['auto', 'light', 'dark', 'high-contrast'] as const;
export type ChosenTheme = (typeof chosenThemes)[number];
export type ThemeName = 'colour' | 'mono' | 'bare' | 'plain' | Exclude<ChosenTheme, 'auto'>;

export interface Theme {
  /** Parameters of "select graphic rendition" (ECMA-48, 8.3.117); empty for a tone that looks like any text. */
  readonly look: Look;
  /** Words before the first text of a tone in a line, for readers without colours. */
  readonly words: Readonly<Partial<Record<Tone, string>>>;
}

type Look = Readonly<Partial<Record<Tone, string>>>;

const mono: Look = {
  dim: '2',
  strong: '1',
  emphasis: '3',
  heading: '1',
  link: '4',
  quote: '3',
  accent: '1',
  bad: '1',
  warn: '1',
  'added-word': '4',
  'removed-word': '4',
  selected: '7',
};

/** Only colours that are readable on black and on white, and no background. */
const colour: Look = {
  ...mono,
  code: '36',
  accent: '36',
  good: '32',
  bad: '31',
  warn: '35',
  added: '32',
  removed: '31',
  'added-word': '32;4',
  'removed-word': '31;4',
  hunk: '36',
  keyword: '35',
  string: '32',
  number: '36',
  comment: '2',
};

type Ink = 'dim' | 'accent' | 'good' | 'bad' | 'warn' | 'name';

/** The tones in fixed colours of the 256 of a terminal, for a background that is known. */
function inked(of: Readonly<Record<Ink, number>>): Look {
  const tones = (['dim', 'accent', 'good', 'bad', 'warn', 'name'] as const).map(
    (tone) => [tone, `38;5;${of[tone]}`] as const,
  );
  const { dim, accent, good, bad, warn, name } = Object.fromEntries(tones) as Readonly<Record<Ink, string>>;
  return {
    ...mono,
    ...{ dim, accent, good, bad, warn, name, code: accent, added: good, removed: bad, hunk: accent },
    ...{ 'added-word': `${good};4`, 'removed-word': `${bad};4` },
    ...{ keyword: name, string: good, number: warn, comment: dim },
  };
}

/** No tone is weaker than text, and no colour carries a meaning: a terminal's own two colours contrast most. */
const { dim: _, ...highContrast } = { ...mono, good: '1', bad: '1;4', warn: '1;4', removed: '3', hunk: '1' };

export const themes: Readonly<Record<ThemeName, Theme>> = {
  colour: { look: colour, words: {} },
  light: { look: inked({ dim: 240, accent: 25, good: 22, bad: 124, warn: 94, name: 90 }), words: {} },
  dark: { look: inked({ dim: 248, accent: 117, good: 114, bad: 210, warn: 221, name: 183 }), words: {} },
  'high-contrast': { look: highContrast, words: {} },
  mono: { look: mono, words: {} },
  bare: { look: {}, words: {} },
  plain: {
    look: {},
    words: {
      heading: '# ',
      quote: '> ',
      good: 'ok: ',
      bad: 'error: ',
      warn: 'warning: ',
      added: '+',
      removed: '-',
      selected: '> ',
    },
  },
};

export function pickTheme(
  env: Readonly<Record<string, string | undefined>>,
  wanted: { readonly colour: boolean; readonly plain: boolean; readonly theme?: ChosenTheme },
): ThemeName {
  if (wanted.plain) return 'plain';
  if (env.TERM === 'dumb') return 'bare';
  const { theme = 'auto' } = wanted;
  if (theme === 'high-contrast') return theme;
  if (!wanted.colour || (env.NO_COLOR ?? '') !== '') return 'mono';
  return theme === 'auto' ? 'colour' : theme;
}

/** Adds the words of each tone, once per line, unless the text begins with them. */
export function withWords(line: Line, { words }: Theme): Line {
  const said = new Set<Tone>();
  return line.flatMap((one) => {
    const word = words[one.tone];
    if (word === undefined || said.has(one.tone) || one.text.trim() === '') return [one];
    said.add(one.tone);
    const bareWord = word.trim().replace(/:$/, '');
    const hasWord = one.text.trimStart().toLowerCase().startsWith(bareWord);
    return hasWord ? [one] : [span(word, one.tone), one];
  });
}
