import type { Hit } from './hit.ts';
import { isShell } from './shell-words.ts';
import type { TokenView } from './token-view.ts';

const flags = /^(?:-[a-z]*c|\/[ck]|-command)$/i;
const flagAndText = /^(?:-[a-z]*c|\/[ck]|-command)\s/i;
const list = /^(?:[,[{(\n]?|::|new|List|Seq|Vector|String|Array|listOf|arrayOf|mutableListOf|of|\.|=|<|>)$/;

/** `"sh", "-c", line` in any argument list, and `"cmd.exe", "/c " + line`: a built command line handed to a shell. */
export function shellFlagHits(view: TokenView): readonly Hit[] {
  const { tokens, at } = view;
  const hits: Hit[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = at(index);
    if (token.kind !== 'string' || token.text.length > 60 || !isShell(token.text)) continue;
    let next = index + 1;
    for (let steps = 0; steps < 8 && at(next).kind !== 'string' && list.test(at(next).text); steps += 1)
      next += 1;
    const flag = at(next);
    if (flag.kind !== 'string') continue;
    const isBuilt = flags.test(flag.text)
      ? !isLiteral(view, next) ||
        (view.isPunct(view.next(next), ',', '::') && !isLiteral(view, view.next(view.next(next))))
      : flagAndText.test(flag.text) && !isLiteral(view, next);
    if (!isBuilt) continue;
    hits.push({
      start: token.start,
      also: [flag.start],
      call: `${token.text} ${flag.text.slice(0, 10)}`.trim(),
      why: 'hands a command line to a shell',
    });
  }
  return hits;
}

/** A string that is all of its argument, with nothing put in. */
export function isLiteral(view: TokenView, index: number): boolean {
  const { kind, text, dynamic, start } = view.at(index);
  if (kind !== 'string' || dynamic === true || /[$@#]\{|\$\w/.test(text)) return false;
  const before = view.at(index - 1);
  if (before.kind === 'word' && before.end === start) return false;
  const after = view.at(view.next(index));
  return after.text === '' || (after.kind === 'punct' && /^(?:[,)\]};]|::)$/.test(after.text));
}
