import { diffArrays } from 'diff/lib/diff/array.js';
import type { DiffLine, Mark } from './diff-file.ts';

/** A line with more words, or more UTF-16 code units, is not compared word by word. */
const maxWords = 160;
const maxCharacters = 600;
/** Lines with less in common than this share of the longer one get no marks: the whole line is new. */
const minCommonShare = 0.4;

/** How many pairs of words may still be compared in a diff. Each comparison takes one away. */
export interface WordBudget {
  comparisons: number;
}

/**
 * Marks the words that a replaced line does not share with its replacement. Stops marking
 * when the budget is used up: the pair of lines that crosses it is the last one.
 */
export function markWords(lines: readonly DiffLine[], budget: WordBudget): readonly DiffLine[] {
  const marked = [...lines];
  let at = 0;
  while (at < marked.length && budget.comparisons > 0) {
    const removed = runFrom(marked, at, 'removed');
    const added = runFrom(marked, at + removed, 'added');
    // Lines correspond to each other only where as many were added as were removed.
    if (removed === added)
      for (let one = at; one < at + removed && budget.comparisons > 0; one += 1) {
        const [before, after] = [marked[one], marked[one + removed]];
        if (before === undefined || after === undefined) continue;
        const marks = compareWords(before.text, after.text, budget);
        if (marks === undefined) continue;
        marked[one] = { ...before, marks: marks[0] };
        marked[one + removed] = { ...after, marks: marks[1] };
      }
    at += Math.max(1, removed + added);
  }
  return marked;
}

/** The marks of both lines, or undefined if they have too little in common or are too long to compare. */
function compareWords(
  before: string,
  after: string,
  budget: WordBudget,
): readonly [readonly Mark[], readonly Mark[]] | undefined {
  if (before.length > maxCharacters || after.length > maxCharacters) return undefined;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length > maxWords || now.length > maxWords) return undefined;
  const [keptOld, keptNow] = commonWords(old, now, budget);
  const common = old.reduce((sum, word, at) => sum + (keptOld.has(at) ? word.trim().length : 0), 0);
  if (common < minCommonShare * Math.max(before.trim().length, after.trim().length)) return undefined;
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

/** Indexes, in both lists, of the words of a longest common subsequence. */
function commonWords(
  old: readonly string[],
  now: readonly string[],
  budget: WordBudget,
): readonly [Set<number>, Set<number>] {
  const kept = [new Set<number>(), new Set<number>()] as const;
  let [row, column] = [0, 0];
  const comparator = (left: string, right: string): boolean => {
    budget.comparisons -= 1;
    return left === right;
  };
  for (const { count, removed, added } of diffArrays([...old], [...now], { comparator })) {
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
