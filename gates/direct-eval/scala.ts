import type { Hit } from './hit.ts';
import { endOf, jvmHits, openOf } from './jvm.ts';
import { isLiteral } from './shell-words.ts';
import type { TokenView } from './token-view.ts';

const why = 'hands a built command line to the system';
const code = 'evaluates a string as code';
const runs = /^(?:lineStream|lineStream_!|lazyLines|lazyLines_!|lines_!|run)$/;
const lists = /^(?:Seq|List|Vector|Array|IndexedSeq)$/;

/** Direct execution in Scala: what the Java library offers, and `scala.sys.process` on a text that is built. */
export function scalaHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...jvmHits(view)];
  const launchers = new Set(['Process', 'stringToProcess']);
  let isImported = false;
  let hasEval = false;
  view.tokens.forEach(({ text, kind }, index) => {
    if (kind !== 'word') return;
    if (text === 'process' && view.text(index - 2) === 'sys') isImported = true;
    if (text === 'Eval' && view.text(index - 2) === 'util') hasEval = true;
    // `import scala.sys.process.{Process => P}`.
    if (text === 'Process' && (view.isPunct(index + 1, '=>') || view.isWord(index + 1, 'as')))
      launchers.add(view.text(index + 2));
  });
  for (let index = 0; index < view.tokens.length; index += 1) {
    const isInterpreter =
      view.isWord(index, 'interpret') &&
      view.isPunct(index - 1, '.') &&
      view.tokens.some(({ text }) => text === 'IMain');
    if (isInterpreter || (hasEval && view.isWord(index, 'Eval') && view.isPunct(index + 1, '(')))
      hits.push({
        start: view.at(index).start,
        end: endOf(view, index),
        call: isInterpreter ? 'IMain.interpret' : 'Eval',
        why: code,
      });
    if (!isImported) continue;
    const hit = processHit(view, index, launchers) ?? operatorHit(view, index);
    if (hit && !hits.some(({ start }) => start === hit.start)) hits.push(hit);
  }
  return hits;
}

/** `Process(s"ls $dir")`; a sequence is an argument list. */
function processHit(view: TokenView, index: number, launchers: ReadonlySet<string>): Hit | undefined {
  if (view.at(index).kind !== 'word' || !launchers.has(view.text(index))) return undefined;
  if (view.isWord(index - 1, 'class', 'new', 'def', 'object')) return undefined;
  const last = view.isPunct(index + 1, '.') && view.isWord(index + 2, 'apply') ? index + 2 : index;
  const first = view.isPunct(last + 1, '(') ? view.args(last + 1)[0] : undefined;
  if (first === undefined || !isBuiltAt(view, first)) return undefined;
  return { start: view.at(index).start, end: endOf(view, last), call: view.text(index), why };
}

/** `s"ls $dir".!`, `command !!`, `command.lazyLines`. */
function operatorHit(view: TokenView, index: number): Hit | undefined {
  const isMark = view.isPunct(index, '!', '!!') && !view.isPunct(index - 1, '!', '!!');
  const isMember = view.isPunct(index - 1, '.');
  if (!isMark && !(isMember && view.at(index).kind === 'word' && runs.test(view.text(index))))
    return undefined;
  let after = index + 1;
  while (view.isPunct(after, '!', '!!', '<')) after += 1;
  const ends = /^(?:\n|[)};,]|)$/.test(view.text(after));
  const last = isMember ? index - 2 : index - 1;
  // Before a message (`actor ! text`) only a text is certain to be a command.
  if (!isMember && !(isMark && (ends || view.at(last).kind === 'string'))) return undefined;
  const start = builtOperand(view, last);
  return start === undefined
    ? undefined
    : { start, end: view.at(index).end, call: `….${view.text(index)}`, why };
}

/** Where the operand that ends at `last` starts, if it is a text that is built. */
function builtOperand(view: TokenView, last: number): number | undefined {
  const token = view.at(last);
  if (token.kind === 'string') return isInterpolated(view, last) ? view.at(last - 1).start : undefined;
  if (view.isPunct(last, '}')) {
    // The code inside an interpolated string comes before its end.
    for (let at = last; at > last - 200 && at >= 0; at -= 1)
      if (view.at(at).kind === 'string' && view.at(at).end >= token.end)
        return isInterpolated(view, at) ? view.at(at - 1).start : undefined;
    return undefined;
  }
  if (view.isPunct(last, ')')) {
    const open = openOf(view, last);
    const callee = view.at(open - 1);
    const isCall = callee.kind === 'word' && view.at(open).start === callee.end;
    if (isCall) return isTextMethod(view, open - 1) ? view.at(open).start : undefined;
    const inner = view.tokens.slice(open + 1, last);
    const isList = lists.test(view.text(open + 1)) || inner.some(({ text }) => text === '::');
    // `("ls" #| "wc -l").!`
    const isWritten = inner.every(({ kind, dynamic }) => kind !== 'word' && dynamic !== true);
    return isList || isWritten ? undefined : view.at(open).start;
  }
  return token.kind === 'word' && isBuiltName(view, last) ? token.start : undefined;
}

/** `"ls %s".format(dir)`. */
function isTextMethod(view: TokenView, index: number): boolean {
  return (
    view.isWord(index, 'format', 'formatted', 'concat', 'replace', 'mkString') &&
    view.isPunct(index - 1, '.') &&
    (view.at(index - 2).kind === 'string' || view.isWord(index, 'mkString'))
  );
}

function isInterpolated(view: TokenView, index: number): boolean {
  const before = view.at(index - 1);
  return (
    before.kind === 'word' &&
    before.end === view.at(index).start &&
    (view.at(index).dynamic === true || /\$/.test(view.text(index)))
  );
}

function isBuiltAt(view: TokenView, index: number): boolean {
  const token = view.at(index);
  if (token.kind === 'string') return !isLiteral(view, index);
  if (token.kind !== 'word' || lists.test(token.text)) return false;
  if (view.at(index + 1).kind === 'string' && view.at(index + 1).start === token.end)
    return isInterpolated(view, index + 1);
  return isBuiltName(view, index);
}

/** What a name was declared as: `Seq(…)` is an argument list, a literal is known, all else may be built. */
function isBuiltName(view: TokenView, index: number): boolean {
  const name = view.text(index);
  if (/^(?:true|false|else|this)$/.test(name)) return false;
  for (let at = 0; at < view.tokens.length; at += 1) {
    if (view.at(at).kind !== 'word' || view.text(at) !== name) continue;
    if (view.isPunct(at + 1, ':')) return view.isWord(at + 2, 'String');
    if (!view.isWord(at - 1, 'val', 'var') || !view.isPunct(at + 1, '=')) continue;
    if (view.isWord(at + 2, 'Seq', 'List', 'Vector', 'Array', 'IndexedSeq', 'Process')) return false;
    const { kind, dynamic } = view.at(at + 2);
    if (kind === 'string') return dynamic === true || view.isPunct(at + 3, '+');
    return true;
  }
  return view.at(index + 1).kind !== 'string';
}
