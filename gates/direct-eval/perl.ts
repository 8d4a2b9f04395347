/* Direct execution in Perl. */
import { readTokens } from '../../readers/source/tokens/lex.ts';
import { type Hit, why as kinds, type TokenView, viewTokens } from './hits.ts';
import { passesShellText } from './shell-command.ts';

const why = { ...kinds, file: 'runs a file whose name is not written down' };
const maxNesting = 3;
/** Of arguments that are looked along. */
const maxTokens = 200;
/** Without one of these a replacement runs no text. */
const inReplacement = /eval|system|exec|readpipe|open|qx|`|\b(?:do|require)\b/;

/** What a word at an index runs; `first` is its first argument. */
type PerlRow = readonly [
  word: RegExp,
  why: string,
  when: (view: TokenView, index: number, first: number, source: string) => boolean,
  said?: string,
];

const rows: readonly PerlRow[] = [
  [/^eval(?:bytes)?$/, why.code, (view, index) => !view.isPunct(view.next(index), '{')],
  [
    /^(?:system|exec)$/,
    why.shell,
    (view, index, first) => isSingle(view, index, first) && !view.text(first).startsWith('@'),
  ],
  [/^readpipe$/, why.shell, (view, _, first) => view.text(first) !== ''],
  [/^open$/, why.shell, (view, index) => opensPipe(view, index)],
  [/^do$/, why.file, runsFile],
  [/^require$/, why.file, (view, _, first, source) => isOpenName(view, first, source)],
  [
    /^use$/,
    'lets patterns that are put together hold code',
    (view, index) =>
      view.isWord(index + 1, 're') &&
      /\beval\b/.test(view.text(view.isPunct(index + 2, '(') ? index + 3 : index + 2)),
    "use re 'eval'",
  ],
  [/^open2$/, why.shell, (view, index) => isLine(view, index, 2)],
  [/^open3$/, why.shell, (view, index) => isLine(view, index, 3)],
];

/** Direct execution in Perl; `eval { … }` catches exceptions, and a list (`system 'ls', $dir`) meets no shell. */
export function perlHits(source: string, isWhole: boolean, depth = 0): readonly Hit[] {
  const tokens = readTokens(source, 'perl', isWhole);
  const view = viewTokens(tokens);
  const hits: Hit[] = [];
  tokens.forEach(({ kind, text, start, end }, index) => {
    if (kind === 'string') {
      const written = source.slice(start, end);
      const flags = /^s\b/.test(written) ? (/[a-z]*$/.exec(written)?.[0] ?? '') : '';
      if (/^(?:`|qx\b)/.test(written)) hits.push({ start, call: '`…`', why: why.shell });
      else if (/e.*e/.test(flags)) hits.push({ start, call: 's///ee', why: why.code });
      else if (flags.includes('e') && depth < maxNesting)
        hits.push(...replacementHits(written, start, depth));
      else if (passesShellText(...wordsFrom(view, index)))
        hits.push({ start, end: view.at(index + 2).end, call: text, why: why.handed });
    }
    if (kind !== 'word' || isNoCall(view, index)) return;
    const first = view.next(view.isPunct(index + 1, '(') ? index + 1 : index);
    const row = rows.find(([word, , when]) => word.test(text) && when(view, index, first, source));
    if (row) hits.push({ start, call: row[3] ?? text, why: row[1] });
  });
  return hits;
}

/** A string and the two values behind it in a list, as far as they are written down; and how they begin. */
function wordsFrom(view: TokenView, index: number): [(string | undefined)[], string[]] {
  const words: (string | undefined)[] = [];
  const openings: string[] = [];
  for (let at = index; words.length < 3; at = view.next(view.next(at))) {
    words.push(isLiteral(view, at) ? view.text(at) : undefined);
    openings.push(view.text(at));
    if (!view.isPunct(view.next(at), ',', '=>')) break;
  }
  return [words, openings];
}

/** Whether a string without interpolation is the whole argument. */
function isLiteral(view: TokenView, index: number): boolean {
  const { kind, text, dynamic } = view.at(index);
  return kind === 'string' && !dynamic && !/[$@]\{|\$\w/.test(text) && !view.isPunct(view.next(index), '.');
}

/** A definition, a method, a key, or a function of another package. */
function isNoCall(view: TokenView, index: number): boolean {
  const isForeign = view.isPunct(index - 1, '::') && !/^(?:CORE|Open[23])$/.test(view.text(index - 2));
  const isKey = view.isPunct(index - 1, '{') && view.isPunct(index + 1, '}');
  return (
    isForeign ||
    isKey ||
    view.isWord(index - 1, 'sub') ||
    view.isPunct(index - 1, '->') ||
    view.isPunct(index + 1, '=>', '::')
  );
}

/** The code of `s/…/…/e`, which the tokens do not show. */
function replacementHits(written: string, start: number, depth: number): readonly Hit[] {
  const past = written.length - (/[a-z]*$/.exec(written)?.[0].length ?? 0) - 1;
  const opener = ({ ')': '(', ']': '[', '}': '{', '>': '<' } as Readonly<Record<string, string>>)[
    written[past] ?? ''
  ];
  let from = past - 1;
  for (let open = 1; from > 0; from -= 1) {
    if (written[from - 1] === '\\') continue;
    if (opener !== undefined && written[from] === written[past]) open += 1;
    else if (written[from] === (opener ?? written[past])) open -= 1;
    if (open === 0) break;
  }
  const code = written.slice(from + 1, past);
  if (!inReplacement.test(code)) return [];
  return perlHits(code, true, depth + 1).map((hit) => ({
    start: start + from + 1 + hit.start,
    call: hit.call,
    why: hit.why,
  }));
}

/** `do` before anything but a block or a file that is written down. */
function runsFile(view: TokenView, index: number, first: number, source: string): boolean {
  const next = view.next(index);
  if (view.isPunct(next, '{', ';', '=', ',') || view.at(next).text === '') return false;
  return isOpenName(view, first, source);
}

/** A variable, or a text with something put in. */
function isOpenName(view: TokenView, index: number, source: string): boolean {
  const { kind, text, start } = view.at(index);
  if (kind === 'word') return text.startsWith('$');
  if (kind !== 'string') return view.isPunct(index, '$', '@');
  return (
    (/^(?:"|qq)/.test(source.slice(start, start + 2)) && /[$@][\w{]/.test(text)) ||
    view.isPunct(view.next(index), '.')
  );
}

/** Where the arguments of what is called at an index begin, and where they end. */
function argumentsAt(
  view: TokenView,
  index: number,
): { readonly starts: readonly number[]; readonly end: number } {
  const starts: number[] = [];
  let isBegun = false;
  let depth = 0;
  let at = view.next(view.isPunct(index + 1, '(') ? index + 1 : index);
  for (const limit = at + maxTokens; at < limit && view.text(at) !== ''; at += 1) {
    if (view.at(at).kind === 'newline') continue;
    if (depth === 0 && (view.isPunct(at, ';') || view.isWord(at, 'or', 'and', 'if', 'unless'))) break;
    if (view.isPunct(at, ')', ']', '}')) depth -= 1;
    if (depth < 0) break;
    const isComma = depth === 0 && view.isPunct(at, ',', '=>');
    if (!isBegun && !isComma) starts.push(at);
    isBegun = !isComma;
    if (view.isPunct(at, '(', '[', '{')) depth += 1;
  }
  return { starts, end: at };
}

/** A single value from a place on, which is then a line for a shell. */
function isLine(view: TokenView, index: number, place: number): boolean {
  const { starts } = argumentsAt(view, index);
  return starts.length === place + 1 && !/^@/.test(view.text(starts[place] ?? index));
}

/** One argument only, up to the end of the call or statement. */
function isSingle(view: TokenView, index: number, first: number): boolean {
  if (view.isPunct(first, '{')) return false;
  // These functions consume all arguments after them and return one text.
  if (view.isWord(first, 'join', 'sprintf') && !view.isPunct(first + 1, '(')) return true;
  return argumentsAt(view, index).starts.length === 1;
}

/** `open(F, "cmd |")`, `open(F, "| cmd")`, `open(my $f, '-|', $line)`; the list form meets no shell. */
function opensPipe(view: TokenView, index: number): boolean {
  const { starts, end } = argumentsAt(view, index);
  const [, place = index] = starts;
  const mode = view.at(place);
  // `$command . ' |'` before a closing bracket.
  const last = view.previous(end);
  const isPutBehind = view.isPunct(end, ')') && view.isPunct(view.previous(last), '.');
  if (starts.length === 2 && isPutBehind && /\|\s*$/.test(view.text(last))) return true;
  if (mode.kind !== 'string') return false;
  if (/^\s*(?:-\||\|-)\s*$/.test(mode.text)) return starts.length === 3;
  return starts.length === 2 && (/\|\s*$/.test(mode.text) || /^\s*\|/.test(mode.text));
}
