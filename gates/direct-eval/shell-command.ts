import { childOf, childrenOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { baseOf, interpreterOf, wrapperOf } from './shell-programs.ts';

/** A word of a command. */
export interface ShellWord {
  readonly node: SyntaxNode;
  /** All of it, where it is written down. */
  readonly said: string | undefined;
  /** As much of its beginning as is written down. */
  readonly opening: string;
}

/** A command, past what only runs the words after it. */
export interface ShellCommand {
  readonly words: readonly ShellWord[];
  /** Where in `words` the program stands that runs. */
  readonly at: number;
  /** What the programs before it put other text in place of (`{}`). */
  readonly placeholder: string | undefined;
}

const maxWrappers = 8;
const maxWords = 2_000;
/** What shows its words to somebody, or looks for them. */
const printers =
  /^(?:echo|print|printf|logger|notify-send|wall|:|test|\[|grep|egrep|fgrep|rg|which|type|hash|alias|export|declare|typeset|local|readonly)$/;
/** Options behind which a command stands in another program's words (`find -exec`, `kubectl exec pod --`). */
const beforeCommand = /^(?:--|-(?:exec|ok)(?:dir)?|-[xXe]|--exec(?:-batch)?)$/;

/**
 * Reads a command's words. `isOwn`: names of the script's own functions, which hand their words to nobody that is
 * known.
 */
export function shellCommand(
  reading: Reading,
  node: SyntaxNode,
  isOwn: (name: string) => boolean,
): ShellCommand | undefined {
  const name = childOf(node, 'name')?.children[0];
  if (!name) return undefined;
  const words = [name, ...childrenOf(node, 'argument').slice(0, maxWords)].map((one) => {
    const said = reading.literal(one);
    return { node: one, said, opening: said ?? reading.opening(one) };
  });
  let at = 0;
  let placeholder: string | undefined;
  for (let steps = 0; steps < maxWrappers; steps += 1) {
    const said = words[at]?.said;
    // `$SUDO sh`: whatever it holds, it stands before a program.
    if (said === undefined && at === 0 && interpreterOf(words[1]?.said)) at = 1;
    if (said === undefined || (at === 0 && isOwn(said))) break;
    const wrapper = wrapperOf(said);
    if (!wrapper) break;
    let next = at + 1;
    for (let left = wrapper.operands; next < words.length; next += 1) {
      const { opening = '', said: option } = words[next] ?? {};
      if (baseOf(said) === 'xargs') placeholder = replacedBy(words, next) ?? placeholder;
      if (option !== undefined && wrapper.valued.test(option)) next += 1;
      else if (!/^-|^\w+=/.test(opening)) {
        if (left === 0) break;
        left -= 1;
      }
    }
    at = next;
  }
  const first = words[at]?.said;
  const isKnown =
    first !== undefined &&
    (interpreterOf(first) || (at === 0 && isOwn(first)) || printers.test(baseOf(first)));
  if (isKnown) return { words, at, placeholder };
  const inner = innerShell(words, at + 1);
  return inner === undefined
    ? { words, at, placeholder }
    : { words, at: inner, placeholder: placeholder ?? '{}' };
}

/** A shell with `-c` among another program's words, which it runs. */
function innerShell(words: readonly ShellWord[], from: number): number | undefined {
  for (let index = from; index + 1 < words.length; index += 1) {
    if (!/^[-/]/.test(words[index + 1]?.opening ?? '')) continue;
    const interpreter = interpreterOf(words[index]?.said);
    if (
      !interpreter ||
      (index > from &&
        /^-/.test(words[index - 1]?.said ?? '') &&
        !beforeCommand.test(words[index - 1]?.said ?? ''))
    )
      continue;
    for (let flag = index + 1; /^-/.test(words[flag]?.opening ?? ''); flag += 1)
      if (interpreter.code.test(words[flag]?.opening ?? '')) return index;
  }
  return undefined;
}

/** The text that `xargs -I` names. */
function replacedBy(words: readonly ShellWord[], index: number): string | undefined {
  const said = words[index]?.said;
  if (said === '-I' || said === '-J') return words[index + 1]?.said;
  if (said === '-i' || said === '--replace') return '{}';
  return /^(?:-I|-i|--replace=)(.+)$/s.exec(said ?? '')?.[1];
}
