import type { Hit } from './hit.ts';
import { shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const shells = ['exec', 'shell_exec', 'system', 'passthru', 'popen', 'proc_open'];
const why = { code: 'evaluates a string as code', shell: 'runs a command line in a shell' };

/** Direct execution in PHP. Names are case-insensitive; methods and definitions of the same name do not count. */
export function phpHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    const { kind, text, start } = view.at(index);
    if (kind === 'command') hits.push({ start, call: '`…`', why: why.shell });
    if (kind !== 'word' || !view.isPunct(index + 1, '(')) continue;
    const word = text.toLowerCase();
    const before = view.at(index - 1);
    if (
      view.isPunct(index - 1, '->', '?->', '::') ||
      ((before.text === '?.' || before.kind === 'word') && /^(?:function|new|fn)$/i.test(before.text))
    )
      continue;
    // `App\exec(…)` is somebody else's; `\exec(…)` is the built-in.
    if (
      view.isPunct(index - 1, '\\') &&
      view.at(index - 2).kind === 'word' &&
      view.at(index - 2).end === before.start &&
      !/^(?:return|echo|print|and|or|case)$/i.test(view.text(index - 2))
    )
      continue;
    if (word === 'eval' || word === 'create_function') hits.push({ start, call: word, why: why.code });
    else if (word === 'assert' && view.at(index + 2).kind === 'string')
      hits.push({ start, call: word, why: why.code });
    else if (
      word === 'preg_replace' &&
      view.at(index + 2).kind === 'string' &&
      /^(\W).*\1[a-z]*e[a-z]*$/is.test(view.text(index + 2))
    ) {
      hits.push({ start, call: 'preg_replace /e', why: why.code });
    } else if (shells.includes(word)) {
      const isList =
        word === 'proc_open' && (view.isPunct(index + 2, '[') || view.isWord(index + 2, 'array'));
      if (!isList) hits.push({ start, call: word, why: why.shell });
    }
  }
  return hits;
}
