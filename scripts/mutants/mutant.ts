/** One small change of a source that a test should notice. */
export interface Mutant {
  readonly file: string;
  /** Of what is changed; from 1. */
  readonly line: number;
  /** Offsets in the text of the file. */
  readonly start: number;
  readonly end: number;
  /** What stands there then. */
  readonly to: string;
  /** What kind of change it is. */
  readonly operator: string;
}

/** The line that a mutant stands on, without its indentation, and the change in it: what a person recognises it by. */
export function describeMutant(text: string, { start, end, to }: Mutant): { line: string; change: string } {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const feed = text.indexOf('\n', start);
  const flat = (words: string): string => words.replace(/\s+/g, ' ');
  return {
    line: text.slice(from, feed === -1 ? text.length : feed).trim(),
    change: `${flat(text.slice(start, end))} → ${flat(to)}`,
  };
}
