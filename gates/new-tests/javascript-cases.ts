import { openOf } from '../direct-eval/jvm.ts';
import type { TokenView } from '../direct-eval/token-view.ts';
import { bracketsAround, type CaseFinder, isDead, oncePerFile, unnamed } from './declared-case.ts';

const skips = new Set(['skip', 'todo', 'failing', 'fixme', 'ignore']);
/** Words that leave a case out, and that leave out all others. */
const leftOut = ['xit', 'xtest', 'xspecify'];
const focused = ['fit', 'ftest', 'fspecify'];
const groups = /^x?(?:describe|suite|context)$/;

/**
 * `it('…', …)`, `test(name, …)`, `t.test('…', …)`, `it.each(…)('…', …)`, `Deno.test({ name, fn })`; without a function
 * behind the name it is a to-do.
 */
export const findJavascript: CaseFinder = (view, index) => {
  const isAlias = view.isWord(index, ...leftOut, ...focused) && !view.isPunct(index - 1, '.', '?.');
  if (!(isAlias || view.isWord(index, 'it', 'test', 'specify')) || view.isWord(index - 1, 'function'))
    return undefined;
  const isMember = view.isPunct(index - 1, '.', '?.');
  const isDeno = isMember && view.isWord(index - 2, 'Deno');
  let isSkipped = isUncalled(view, index) || isDead(view, index) || isInSkippedGroup(view, index);
  if (view.isPunct(index - 1, '&&') && view.isWord(index - 2, 'false')) isSkipped = true;
  if (view.isWord(index, ...leftOut)) isSkipped = true;
  let open = index + 1;
  for (let steps = 0; view.isPunct(open, '.') && steps < 8; steps += 1) {
    const word = view.text(open + 1);
    // `test.describe(…)` is a group.
    if (word === 'describe' || word === 'step') return undefined;
    if (skips.has(word)) isSkipped = true;
    // Nobody has a row for it.
    if (
      word === 'each' &&
      view.isPunct(open + 2, '(') &&
      view.isPunct(open + 3, '[') &&
      view.isPunct(open + 4, ']')
    )
      isSkipped = true;
    const isConditional = word === 'skipIf' || word === 'runIf';
    open = skipTypes(view, open + 2);
    if (isConditional && view.isWord(open + 1, word === 'skipIf' ? 'true' : 'false')) isSkipped = true;
    if (view.isPunct(open, '(') && view.isPunct(view.closeOf(open) + 1, '(')) open = view.closeOf(open) + 1;
    else if (view.at(open).kind === 'string') open = pastString(view, open);
  }
  if (!view.isPunct(open, '(')) return undefined;
  const args = view.args(open);
  const [first] = args;
  if (first === undefined) return undefined;
  const isNamed = view.at(first).kind === 'string';
  if (isDeno && (args.length === 1 || view.isPunct(first, '{'))) {
    const name = keyOf(view, first, 'name');
    const code = keyOf(view, first, 'fn');
    const isFunction = view.isWord(first, 'function', 'async');
    if (!isFunction && code === undefined) return undefined;
    return {
      at: index,
      name: name === undefined ? unnamed(view.at(first)) : view.at(name + 2),
      body: bodyOf(view, code ?? first, view.closeOf(open)),
      isSkipped: isSkipped || isLeftOut(view, first),
    };
  }
  // `pattern.test(value, flag)` is something else.
  if (args.length < 2 || ((isMember || isAlias) && !isNamed)) return undefined;
  const last = args.at(-1) ?? open;
  const isWhole = view.at(first + 1).text === ',' && isNamed;
  return {
    at: index,
    name: isWhole ? view.at(first) : isNamed ? view.at(first) : unnamed(view.at(first)),
    body: bodyOf(view, view.isPunct(last, '{') ? (args.at(-2) ?? last) : last, view.closeOf(open)),
    isSkipped: isSkipped || args.slice(1).some((start) => isLeftOut(view, start)),
  };
};

/** `<[number, string]>` before a call. */
function skipTypes(view: TokenView, at: number): number {
  if (!view.isPunct(at, '<')) return at;
  for (let end = at + 1; end < at + 60; end += 1)
    if (/^>+$/.test(view.text(end)) && /^(?:\(|)$/.test(view.text(end + 1)) && view.isPunct(end + 1, '('))
      return end + 1;
  return at;
}

/** Behind a template and the code in it. */
function pastString(view: TokenView, at: number): number {
  const { end } = view.at(at);
  let next = at + 1;
  while (next < view.tokens.length && view.at(next).start < end) next += 1;
  return next;
}

/** The place of a key in an object. */
function keyOf(view: TokenView, object: number, key: string): number | undefined {
  return view.isPunct(object, '{')
    ? view
        .args(object)
        .find((at) => view.isWord(at, key) || (view.isWord(at, 'async') && view.isWord(at + 1, key)))
    : undefined;
}

/** `{ skip: true }`, `{ todo: 'later' }`, `{ ignore: true }`. */
function isLeftOut(view: TokenView, start: number): boolean {
  return (
    view.isPunct(start, '{') &&
    view
      .args(start)
      .some(
        (key) =>
          view.isWord(key, 'skip', 'todo', 'ignore') &&
          view.isPunct(key + 1, ':') &&
          (view.isWord(key + 2, 'true') || view.at(key + 2).kind === 'string'),
      )
  );
}

/** The brace of a function's body. */
function bodyOf(view: TokenView, from: number, to: number): number | undefined {
  for (let at = from; at < Math.min(to, from + 200); at += 1) {
    if (view.isPunct(at, '=>')) return view.isPunct(at + 1, '{') ? at + 1 : undefined;
    if (view.isPunct(at, '(')) {
      const close = view.closeOf(at);
      if (view.isPunct(close + 1, '{')) return close + 1;
      at = close;
    }
  }
  return undefined;
}

/** `describe.skip('…', () => {…})`, `xdescribe(…)`, `describe('…', { skip: true }, …)` and their like around a case. */
function isInSkippedGroup(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    if (!view.isPunct(open, '(')) continue;
    let at = open - 1;
    let isSkip = false;
    for (let steps = 0; steps < 12; steps += 1) {
      if (view.isPunct(at, ')')) at = openOf(view, at) - 1;
      else if (view.at(at).kind === 'string' || view.isPunct(at, '.', '}', '{')) at -= 1;
      else if (view.at(at).kind === 'word' && view.isPunct(at - 1, '.')) {
        if (view.isWord(at, 'skip', 'todo', 'ignore', 'fixme')) isSkip = true;
        if (groups.test(view.text(at))) break;
        at -= 2;
      } else break;
    }
    if (!groups.test(view.text(at)) && !view.isWord(at, 'test', 'it')) continue;
    if (isSkip || (/^x/.test(view.text(at)) && groups.test(view.text(at)))) return true;
    if (groups.test(view.text(at)) && view.args(open).some((start) => isLeftOut(view, start))) return true;
  }
  return false;
}

/** How often each word stands in the file. */
const uses = oncePerFile((view) => {
  const counts = new Map<string, number>();
  for (const { kind, text } of view.tokens)
    if (kind === 'word') counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
});

/** Inside `function name() {…}` or `const name = () => {…}` whose name stands nowhere else in the file. */
function isUncalled(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    if (!view.isPunct(open, '{')) continue;
    const isArrow = view.isPunct(open - 1, '=>');
    const close = isArrow ? open - 2 : open - 1;
    if (!view.isPunct(close, ')')) continue;
    const start = openOf(view, close);
    const at = isArrow ? start - (view.isWord(start - 1, 'async') ? 3 : 2) : start - 1;
    const isGiven = isArrow
      ? view.isPunct(at + 1, '=') && view.isWord(at - 1, 'const', 'let', 'var')
      : view.isWord(at - 1, 'function');
    if (!isGiven || view.at(at).kind !== 'word') continue;
    let first = at - 2;
    if (view.isWord(first, 'async')) first -= 1;
    // What is exported or handed on somebody else may call.
    if (view.isWord(first, 'export', 'default') || view.isPunct(first, '=', '(', ',', ':', '=>')) continue;
    const name = view.text(at);
    if (uses(view).get(name) === 1) return true;
  }
  return false;
}
