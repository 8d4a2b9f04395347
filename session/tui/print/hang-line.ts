import { type Line, span, textOf } from '../../screen/line.ts';
import { wrapLine } from '../../screen/wrap.ts';

/** What a line begins with before its words: an indent, a sign or a number, a word in a column of its own. */
const beginning = /^ *(?:\S+ {2,}|(?:[-+•✓✗·?>$]|\d+\.) )?/;

/** A line as lines of so many columns: what goes on below stands under the words, not under their sign. */
export function hangLine(line: Line, columns: number): readonly Line[] {
  const [found = ''] = beginning.exec(textOf(line)) ?? [];
  const hang = [span(' '.repeat(Math.max(2, found.length)))];
  return wrapLine(line, { columns, hang });
}
