import type { Hit } from './hit.ts';
import { shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const why = { code: 'evaluates a string as code', shell: 'runs a command line in a shell' };

/** Direct execution in Perl. `eval { … }` catches exceptions and a list (`system 'ls', $dir`) meets no shell: neither counts. */
export function perlHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    const { kind, text, start } = view.at(index);
    if (kind === 'command') hits.push({ start, call: '`…`', why: why.shell });
    if (kind === 'regex' && /^s\/[a-z]*e[a-z]*e/.test(text))
      hits.push({ start, call: 's///ee', why: why.code });
    if (
      kind !== 'word' ||
      view.isWord(index - 1, 'sub') ||
      view.isPunct(index - 1, '->') ||
      (view.isPunct(index - 1, '::') && view.text(index - 2) !== 'CORE') ||
      view.isPunct(index + 1, '=>', '::')
    )
      continue;
    if (view.isPunct(index - 1, '{') && view.isPunct(index + 1, '}')) continue;
    const first = view.next(view.isPunct(index + 1, '(') ? index + 1 : index);
    const argument = view.at(first);
    if (text === 'eval' && !view.isPunct(index + 1, '{') && !view.isPunct(view.next(index), '{'))
      hits.push({ start, call: 'eval', why: why.code });
    else if (
      (text === 'system' || text === 'exec') &&
      isSingle(view, first) &&
      !argument.text.startsWith('@')
    )
      hits.push({ start, call: text, why: why.shell });
    else if (text === 'readpipe' && argument.text !== '') hits.push({ start, call: text, why: why.shell });
    else if (text === 'open' && opensPipe(view, index)) hits.push({ start, call: 'open', why: why.shell });
  }
  return hits;
}

/** One argument only, up to the end of the call or statement. */
function isSingle(view: TokenView, first: number): boolean {
  if (view.isPunct(first, '{', ';', ')') || view.at(first).text === '') return false;
  let depth = 0;
  for (let at = first; at < first + 200; at += 1) {
    if (view.isPunct(at, '(', '[', '{')) depth += 1;
    else if (view.isPunct(at, ')', ']', '}')) {
      depth -= 1;
      if (depth < 0) return true;
    } else if (depth === 0 && view.isPunct(at, ',', '=>')) return false;
    else if (depth === 0 && (view.isPunct(at, ';') || view.isWord(at, 'or', 'and', 'if', 'unless')))
      return true;
  }
  return true;
}

/** `open(F, "cmd |")`, `open(F, "| cmd")`, `open(my $f, '-|', $line)`; the list form meets no shell. */
function opensPipe(view: TokenView, index: number): boolean {
  const open = view.isPunct(index + 1, '(') ? index + 1 : index;
  const close = view.isPunct(open, '(') ? view.closeOf(open) : index + 40;
  const commas: number[] = [];
  for (let at = open + 1; at < close && !view.isPunct(at, ';'); at += 1)
    if (view.isPunct(at, ',')) commas.push(at);
  const mode = view.at((commas[0] ?? -2) + 1);
  if (mode.kind !== 'string') return false;
  if (/^\s*(?:-\||\|-)\s*$/.test(mode.text)) return commas.length === 2;
  return commas.length === 1 && (/\|\s*$/.test(mode.text) || /^\s*\|/.test(mode.text));
}
