import { openOf } from '../direct-eval/jvm.ts';
import type { TokenView } from '../direct-eval/token-view.ts';
import { bracketsAround, type CaseFinder } from './declared-case.ts';

const tests = ['Fact', 'Theory', 'Test', 'TestCase', 'TestCaseSource', 'TestMethod', 'DataTestMethod'];
const skips = ['Ignore', 'Explicit'];

/** xUnit, NUnit and MSTest: an attribute before the method. */
export const findCsharp: CaseFinder = (view, index) => {
  if (!view.isWord(index, ...tests) || !isAttribute(view, index)) return undefined;
  const group = view.openerOf(index);
  let at = view.closeOf(group) + 1;
  const groups = [...groupsBefore(view, group - 1), group];
  while (view.isPunct(at, '[') && groups.length < 80) {
    groups.push(at);
    at = view.closeOf(at) + 1;
  }
  const stop = at + 60;
  while (at < stop && !(view.at(at).kind === 'word' && view.isPunct(pastTypes(view, at + 1), '('))) {
    if (view.isPunct(at, '{', ';', '=', '}')) return undefined;
    at += 1;
  }
  if (at >= stop) return undefined;
  const after = view.closeOf(pastTypes(view, at + 1)) + 1;
  return {
    at: index,
    name: view.at(at),
    body: view.isPunct(after, '{') ? after : undefined,
    isSkipped:
      groups.some((open) => leavesOut(view, open)) ||
      modifiersOf(view, at).some((word) => word === 'private' || word === 'protected') ||
      isInSkippedClass(view, group),
  };
};

/** Words before the name of a method. */
function modifiersOf(view: TokenView, name: number): readonly string[] {
  const words: string[] = [];
  for (let at = name - 1; words.length < 12 && !view.isPunct(at, ']', '}', ';', '{'); at -= 1)
    words.push(view.text(at));
  return words;
}

/** Behind `<T>`. */
function pastTypes(view: TokenView, index: number): number {
  if (!view.isPunct(index, '<')) return index;
  let at = index + 1;
  while (at < index + 20 && (view.at(at).kind === 'word' || view.isPunct(at, ','))) at += 1;
  return view.isPunct(at, '>') ? at + 1 : index;
}

function isAttribute(view: TokenView, index: number): boolean {
  let at = index;
  while (view.isPunct(at - 1, '.')) at -= 2;
  return view.isPunct(at - 1, '[', ',') && view.isPunct(view.openerOf(index), '[');
}

/** The brackets of attributes that end at a token, nearest last. */
function groupsBefore(view: TokenView, end: number): readonly number[] {
  const groups: number[] = [];
  for (let at = end, steps = 0; view.isPunct(at, ']') && steps < 40; steps += 1) {
    const open = openOf(view, at);
    groups.unshift(open);
    at = open - 1;
  }
  return groups;
}

/** `[Ignore("…")]`, `[Explicit]`, `[Fact(Skip = "…")]`. */
function leavesOut(view: TokenView, group: number): boolean {
  return view.args(group).some((start) => {
    let at = start;
    while (view.isPunct(at + 1, '.')) at += 2;
    if (view.isWord(at, ...skips)) return true;
    if (!view.isPunct(at + 1, '(')) return false;
    return view
      .args(at + 1)
      .some(
        (one) =>
          view.isWord(one, 'Skip', ...skips) &&
          view.isPunct(one + 1, '=') &&
          !view.isWord(one + 2, 'null', 'false'),
      );
  });
}

function isInSkippedClass(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    for (let at = open - 1; at > open - 60 && at >= 0; at -= 1) {
      if (view.isPunct(at, ';', '}', '{')) break;
      if (!view.isWord(at, 'class', 'record', 'struct')) continue;
      let before = at - 1;
      while (view.at(before).kind === 'word') before -= 1;
      if (groupsBefore(view, before).some((group) => leavesOut(view, group))) return true;
      break;
    }
  }
  return false;
}
