import type { TokenView } from '../direct-eval/token-view.ts';
import { type DeclaredCase, unnamed } from './declared-case.ts';

/** What stands between a word and its `end`. */
interface Block {
  /** First token of the statement that opens it. */
  readonly head: number;
  /** `do`, or the word itself. */
  readonly open: number;
  readonly outer: Block | undefined;
}

const cases = ['it', 'specify', 'test', 'scenario', 'example'];
const leftOut = /^(?:xdescribe|xcontext|xfeature|xit|xspecify|xexample|xscenario|skip|pending)$/;

/** minitest, RSpec and Rails: `def test_…`, `it '…' do`, `test '…' do`, `it { … }`. */
export function rubyCases(view: TokenView): readonly DeclaredCase[] {
  const found: DeclaredCase[] = [];
  let block: Block | undefined;
  let head = 0;
  let isLoop = false;
  for (let index = 0; index < view.tokens.length; index += 1) {
    if (isStart(view, index)) {
      head = index;
      isLoop = view.isWord(index, 'while', 'until', 'for');
    }
    const one = caseAt(index);
    if (one) found.push(one);
    if (view.at(index).kind !== 'word' || view.isPunct(index - 1, '.', ':', '&.')) continue;
    if (view.isWord(index, 'end')) block = block?.outer;
    else if (opensBlock(index)) block = { head, open: index, outer: block };
  }
  return found;

  function opensBlock(index: number): boolean {
    if (view.isWord(index, 'do')) return !isLoop;
    if (view.isWord(index, 'class', 'module', 'begin', 'case', 'for')) return !view.isPunct(index + 1, ':');
    if (view.isWord(index, 'if', 'unless', 'while', 'until'))
      return isStart(view, index) || view.isPunct(index - 1, '=', '(', '+=', '||=');
    return view.isWord(index, 'def') && !isEndless(view, index);
  }

  function caseAt(index: number): DeclaredCase | undefined {
    if (view.isWord(index, 'def') && /^test_/.test(view.text(index + 1)))
      return {
        at: index,
        name: view.at(index + 1),
        isSkipped: isAround() || isNothing(afterLine(index + 2)),
      };
    if (!view.isWord(index, ...cases) || !isStart(view, index)) return undefined;
    if (view.isWord(index, 'it', 'specify', 'example') && view.isPunct(index + 1, '{'))
      return { at: index, name: unnamed(view.at(index)), body: index + 1, isSkipped: isAround() };
    const first = view.isPunct(index + 1, '(') ? index + 2 : index + 1;
    const name = view.at(first);
    if (name.kind !== 'string' && name.kind !== 'word') return undefined;
    for (let at = first; at < first + 60 && view.at(at).kind !== 'newline'; at += 1) {
      const isBlock = view.isWord(at, 'do');
      if (!isBlock && !(view.isPunct(at, '{') && view.at(at).start >= name.end && !view.isPunct(at - 1, ',')))
        continue;
      const isSkipped = isMarked(first, at) || isAround() || (isBlock && isNothing(at + 1));
      return {
        at: index,
        name: name.kind === 'string' ? name : unnamed(name),
        body: isBlock ? undefined : at,
        isSkipped,
      };
    }
    return undefined;
  }

  /** `:skip`, `skip: 'later'` among what describes a case or group. */
  function isMarked(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) {
      if (!view.isWord(at, 'skip', 'pending')) continue;
      if (view.isPunct(at + 1, ':') && !view.isWord(at + 2, 'false', 'nil')) return true;
      if (view.isPunct(at - 1, ':') && !view.isPunct(at + 1, ':')) return true;
    }
    return false;
  }

  function isAround(): boolean {
    for (let at = block, depth = 0; at && depth < 100; at = at.outer, depth += 1) {
      if (leftOut.test(view.text(at.head)) || isMarked(at.head, at.open)) return true;
      if (
        view.isWord(at.head, 'if', 'unless') &&
        view.isWord(at.head + 1, view.isWord(at.head, 'if') ? 'false' : 'true')
      )
        return true;
      if (view.isWord(at.head, 'RSpec') && leftOut.test(view.text(at.head + 2))) return true;
      if (isNothing(at.open + 1) && view.isWord(at.head, ...cases)) return true;
    }
    return false;
  }

  function afterLine(index: number): number {
    let at = index;
    if (view.isPunct(at, '(')) at = view.closeOf(at) + 1;
    return at;
  }

  /** A body that is empty, or begins by skipping itself. */
  function isNothing(from: number): boolean {
    let at = from;
    while (at < view.tokens.length && (view.at(at).kind === 'newline' || view.isPunct(at, ';'))) at += 1;
    const isAlone = /^(?:newline|string)$/.test(view.at(at + 1).kind) || view.isPunct(at + 1, '(', ';');
    return view.isWord(at, 'end') || (view.isWord(at, 'skip', 'pending', 'return', 'omit') && isAlone);
  }
}

function isStart(view: TokenView, index: number): boolean {
  const before = view.at(index - 1);
  return (
    index === 0 ||
    before.kind === 'newline' ||
    view.isPunct(index - 1, ';') ||
    view.isWord(index - 1, 'then', 'else', 'do', 'begin')
  );
}

/** `def a(b) = c`. */
function isEndless(view: TokenView, index: number): boolean {
  const after = view.isPunct(index + 2, '(') ? view.closeOf(index + 2) + 1 : index + 2;
  return view.isPunct(after, '=') && view.at(after).start > view.at(after - 1).end;
}
