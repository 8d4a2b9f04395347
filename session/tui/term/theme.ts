import type { Line, Tone } from '../../screen/line.ts';
import { span } from '../../screen/line.ts';

export type ThemeName = 'colour' | 'mono' | 'bare' | 'plain';

/** How tones look. */
export interface Theme {
  /** Parameters of "select graphic rendition" (ECMA-48, 8.3.117); empty for a tone that looks like any text. */
  readonly look: Readonly<Record<Tone, string>>;
  /** What is said before the first text of a tone in a line, for whom a look tells nothing. */
  readonly words: Readonly<Partial<Record<Tone, string>>>;
}

const bare: Theme['look'] = {
  plain: '',
  dim: '',
  strong: '',
  emphasis: '',
  heading: '',
  code: '',
  link: '',
  quote: '',
  accent: '',
  good: '',
  bad: '',
  warn: '',
  added: '',
  removed: '',
  'added-word': '',
  'removed-word': '',
  hunk: '',
  keyword: '',
  string: '',
  number: '',
  comment: '',
  name: '',
  selected: '',
};

const mono: Theme['look'] = {
  ...bare,
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

/**
 * Of the 16 colours only those that are read on black and on white: no yellow, no blue, no bright ones, and never a
 * background of our own.
 */
const colour: Theme['look'] = {
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

export const themes: Readonly<Record<ThemeName, Theme>> = {
  colour: { look: colour, words: {} },
  mono: { look: mono, words: {} },
  bare: { look: bare, words: {} },
  plain: {
    look: bare,
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

/** For a screen reader, for a terminal without looks, for a person without colours, else the one with colours. */
export function pickTheme(
  env: Readonly<Record<string, string | undefined>>,
  wanted: { readonly colour: boolean; readonly plain: boolean },
): ThemeName {
  if (wanted.plain) return 'plain';
  if (env.TERM === 'dumb') return 'bare';
  return wanted.colour && (env.NO_COLOR ?? '') === '' ? 'colour' : 'mono';
}

/** The line with the words of its tones, each said once, and not where the text begins with it. */
export function withWords(line: Line, { words }: Theme): Line {
  const said = new Set<Tone>();
  return line.flatMap((one) => {
    const word = words[one.tone];
    if (word === undefined || said.has(one.tone) || one.text.trim() === '') return [one];
    said.add(one.tone);
    const bareWord = word.trim().replace(/:$/, '');
    const told = one.text.trimStart().toLowerCase().startsWith(bareWord);
    return told ? [one] : [span(word, one.tone), one];
  });
}
