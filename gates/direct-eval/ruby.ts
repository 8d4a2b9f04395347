import type { Hit } from './hit.ts';
import { shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const why = { code: 'evaluates a string as code', shell: 'runs a command line in a shell' };

/** Direct execution in Ruby. Blocks (`class_eval { … }`) and argument lists (`system('ls', dir)`) evaluate nothing. */
export function rubyHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    const { kind, text: word, start } = view.at(index);
    if (kind === 'command') hits.push({ start, call: '`…`', why: why.shell });
    if (
      kind !== 'word' ||
      view.isWord(index - 1, 'def', 'alias', 'undef') ||
      view.isPunct(index - 1, ':') ||
      view.isPunct(index + 1, ':')
    )
      continue;
    const isMember = view.isPunct(index - 1, '.', '?.', '::');
    const owner = isMember ? view.text(index - 2) : '';
    const first = firstArgument(view, index);
    if (first === undefined) continue;
    const isKernel = !isMember || owner === 'Kernel' || owner === 'self';
    if (word === 'eval' && (isKernel || /binding$/i.test(owner)))
      hits.push({ start, call: word, why: why.code });
    else if (/^(?:instance|class|module)_eval$/.test(word) && isText(view, first))
      hits.push({ start, call: word, why: why.code });
    else if (/^(?:system|exec|spawn)$/.test(word) && isKernel && !hasSecond(view, index, first))
      hits.push({ start, call: word, why: why.shell });
    else if (word === 'popen' && owner === 'IO' && isText(view, first))
      hits.push({ start, call: 'IO.popen', why: why.shell });
    else if (
      /^(?:capture[23]e?|popen[23]e?|pipeline)$/.test(word) &&
      owner === 'Open3' &&
      !hasSecond(view, index, first)
    )
      hits.push({ start, call: `Open3.${word}`, why: why.shell });
    else if (
      /^(?:__send__|public_send|send)$/.test(word) &&
      view.isPunct(first, ':') &&
      view.isWord(first + 1, 'eval', 'system', 'exec', 'instance_eval')
    ) {
      hits.push({ start, call: `${word} :${view.text(first + 1)}`, why: why.code });
    }
  }
  return hits;
}

/** Index of a call's first argument, with or without brackets; `undefined` where it is no call with arguments. */
function firstArgument(view: TokenView, index: number): number | undefined {
  const next = view.at(index + 1);
  if (view.isPunct(index + 1, '('))
    return view.isPunct(view.next(index + 1), ')') ? undefined : view.next(index + 1);
  if (next.kind === 'newline' || next.start === view.at(index).end) return undefined;
  if (next.kind === 'string' || next.kind === 'command' || view.isPunct(index + 1, ':')) return index + 1;
  if (next.kind !== 'word' || /^(?:do|if|unless|and|or|then|end|while|until|rescue|in)$/.test(next.text))
    return undefined;
  return index + 1;
}

function isText(view: TokenView, index: number): boolean {
  const { kind, text } = view.at(index);
  return kind === 'string' || (kind === 'word' && text !== '&' && !/^[A-Z]/.test(text));
}

/** A second positional argument: then nothing is read by a shell. */
function hasSecond(view: TokenView, index: number, first: number): boolean {
  const isBracketed = view.isPunct(index + 1, '(');
  let depth = 0;
  for (let at = first; at < first + 200; at += 1) {
    if (view.isPunct(at, '(', '[', '{')) depth += 1;
    else if (view.isPunct(at, ')', ']', '}')) {
      depth -= 1;
      if (depth < 0) return false;
    } else if (depth === 0 && view.isPunct(at, ',')) {
      // Options such as `exception: true` are no argument.
      return !(view.at(at + 1).kind === 'word' && view.isPunct(at + 2, ':'));
    } else if (!isBracketed && view.at(at).kind === 'newline' && depth === 0) return false;
    else if (view.at(at).text === '') return false;
  }
  return false;
}
