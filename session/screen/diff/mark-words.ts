import { diffArrays } from 'diff/lib/diff/array.js';
import type { DiffLine, Mark } from './diff-file.ts';

/** Words of the longest line that is compared word by word: the work is their square. */
const mostWords = 160;
const mostCharacters = 600;
/** Of a line that has less in common with the other one, all is new. */
const leastInCommon = 0.4;

/** The lines of a hunk, where lines that take the place of others know which of their words are other ones. */
export function markWords(lines: readonly DiffLine[]): readonly DiffLine[] {
  const marked = [...lines];
  let at = 0;
  while (at < marked.length) {
    const removed = runFrom(marked, at, 'removed');
    const added = runFrom(marked, at + removed, 'added');
    // Only as many lines as there were before are likely to be the same ones.
    if (removed === added)
      for (let one = at; one < at + removed; one += 1) {
        const [before, after] = [marked[one], marked[one + removed]];
        if (before === undefined || after === undefined) continue;
        const marks = compareWords(before.text, after.text);
        if (marks === undefined) continue;
        marked[one] = { ...before, marks: marks[0] };
        marked[one + removed] = { ...after, marks: marks[1] };
      }
    at += Math.max(1, removed + added);
  }
  return marked;
}

/** What differs between two lines; nothing where they have too little in common, or are too long to be compared. */
export function compareWords(
  before: string,
  after: string,
): readonly [readonly Mark[], readonly Mark[]] | undefined {
  if (before.length > mostCharacters || after.length > mostCharacters) return undefined;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length > mostWords || now.length > mostWords) return undefined;
  const [keptOld, keptNow] = commonWords(old, now);
  const common = old.reduce((sum, word, at) => sum + (keptOld.has(at) ? word.trim().length : 0), 0);
  if (common < leastInCommon * Math.max(before.trim().length, after.trim().length)) return undefined;
  return [marksOf(old, keptOld), marksOf(now, keptNow)];
}

function runFrom(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end - from;
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}\p{M}_]+|\s+|./gsu) ?? [];
}

/** Places of a longest common subsequence in both. */
function commonWords(old: readonly string[], now: readonly string[]): readonly [Set<number>, Set<number>] {
  const kept = [new Set<number>(), new Set<number>()] as const;
  let [row, column] = [0, 0];
  for (const { count, removed, added } of diffArrays([...old], [...now])) {
    if (removed) row += count;
    else if (added) column += count;
    else
      for (let left = count; left > 0; left -= 1) {
        kept[0].add(row++);
        kept[1].add(column++);
      }
  }
  return kept;
}

function marksOf(words: readonly string[], kept: ReadonlySet<number>): readonly Mark[] {
  const marks: Mark[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    const from = at;
    at += word.length;
    if (kept.has(index)) continue;
    const last = marks.at(-1);
    if (last?.to === from) marks[marks.length - 1] = { from: last.from, to: at };
    else marks.push({ from, to: at });
  }
  return marks;
}
