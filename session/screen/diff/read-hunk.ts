import { visible } from '../visible.ts';
import type { DiffLine, Hunk } from './diff-file.ts';
import { markWords, type WordBudget } from './mark-words.ts';

const numbered = /^@@+ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@+ ?(.*)$/;
const kinds: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'context' };

/** Whether nothing of a hunk stands here: the next file, or the end of an envelope. */
type IsEnd = (at: number) => boolean;

export interface FoundHunk {
  readonly hunk: Hunk;
  /** The line behind it. */
  readonly next: number;
}

/**
 * The hunk that begins at a line. With numbers it is as long as its head says, whatever its lines look like, and what
 * comes behind that and is no other beginning belongs to it too; without, it ends where something else begins.
 */
export function readHunk(
  lines: readonly string[],
  start: number,
  isEnd: IsEnd,
  budget: WordBudget,
): FoundHunk {
  const head = lines[start] ?? '';
  const told = numbered.exec(head);
  const isHead = head.startsWith('@@');
  const [, oldStart, oldCount = '1', newStart, newCount = '1', title] = told ?? [];
  let [oldLeft, newLeft] = told === null ? [0, 0] : [Number(oldCount), Number(newCount)];
  let [oldNumber, newNumber] = [Number(oldStart), Number(newStart)];
  const found: DiffLine[] = [];
  let at = isHead ? start + 1 : start;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const isCounted = oldLeft > 0 || newLeft > 0;
    if (!isCounted && (line.startsWith('@@') || isEnd(at))) break;
    const last = found.at(-1);
    if (line.startsWith('\\') && last !== undefined) {
      found[found.length - 1] = { ...last, isUnended: true };
      continue;
    }
    // Editors take the only space of an empty line of context away.
    const kind = line === '' ? 'context' : kinds[line[0] ?? ''];
    if (kind === undefined || (line === '' && !isCounted && at === lines.length - 1)) break;
    const numbers =
      told === null
        ? {}
        : { ...(kind === 'added' ? {} : { oldNumber }), ...(kind === 'removed' ? {} : { newNumber }) };
    found.push({ kind, ...numbers, text: line.slice(1), marks: [] });
    if (kind !== 'added') [oldNumber, oldLeft] = [oldNumber + 1, oldLeft - 1];
    if (kind !== 'removed') [newNumber, newLeft] = [newNumber + 1, newLeft - 1];
  }
  const place = told === null ? {} : { oldStart: Number(oldStart), newStart: Number(newStart) };
  const words = told === null ? head.replace(/^@@+ ?| ?@@+$/g, '') : (title ?? '');
  return {
    hunk: { title: isHead ? visible(words) : '', ...place, lines: markWords(shown(found), budget) },
    next: at,
  };
}

/** Line ends of Windows are shown where not every line has one: that may be all that is changed. */
function shown(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isWindows = lines.every(({ text }) => text.endsWith('\r'));
  return lines.map((line) => ({ ...line, text: visible(isWindows ? line.text.slice(0, -1) : line.text) }));
}
