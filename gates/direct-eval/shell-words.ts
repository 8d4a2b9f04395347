import type { Hit } from './hit.ts';
import type { TokenView } from './token-view.ts';

const shells = /^(?:.*[/\\])?(?:ba|z|da|k|a|c|tc|fi)?sh$|^(?:.*[/\\])?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flags = /^(?:-[a-z]*c|\/[ckr]|-command|-encodedcommand)$/i;
const windows = /(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flagAndText = /^\s*(?:-[a-z]*c|\/[ckr]|-command)\s/i;
const tokenFlags = /^(?:-[a-z]*c|\/[ck]|-command)$/i;
const tokenFlagAndText = /^(?:-[a-z]*c|\/[ck]|-command)\s/i;
const list = /^(?:[,[{(\n]?|::|new|List|Seq|Vector|String|Array|listOf|arrayOf|mutableListOf|of|\.|=|<|>)$/;

/** Whether a text names a shell, by its name or path. */
export function isShell(text: string | undefined): boolean {
  return text !== undefined && text.length < 200 && shells.test(text);
}

/** Whether an argument list, as far as it is written down, hands a shell a text that is not (`['sh', '-c', line]`). */
export function handsShellText(words: readonly (string | undefined)[]): boolean {
  for (let index = 0; index + 1 < words.length && index < 12; index += 1) {
    if (!isShell(words[index])) continue;
    for (let at = index + 1; at < words.length && at < index + 6; at += 1) {
      const word = words[at];
      if (word === undefined) break;
      // Behind a shell's text stand its operands; Windows' shells take all that follows for the text.
      if (flags.test(word))
        return words.slice(at + 1, windows.test(words[index] ?? '') ? undefined : at + 2).includes(undefined);
    }
  }
  return false;
}

/** Whether a command line's known beginning is a shell's flag for text (`/c `, `-c `). */
export function startsWithFlag(text: string): boolean {
  return flagAndText.test(text);
}

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
    const isBuilt = tokenFlags.test(flag.text)
      ? !isLiteral(view, next) ||
        (view.isPunct(view.next(next), ',', '::') && !isLiteral(view, view.next(view.next(next))))
      : tokenFlagAndText.test(flag.text) && !isLiteral(view, next);
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
