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
  /** What is other than before within a line that is added or removed. */
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
