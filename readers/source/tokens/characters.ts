import type { Syntax } from './syntax.ts';

const punctuation = '=== !== ... => -> :: ?. == != <= >= && || ?? =~ **'.split(' ');
/** Second characters of `punctuation`. */
const mayPair = /[=>:.&|?~*]/;
const maxLength = 800;

/** The operator or bracket at an offset, the longest that there is. */
export function markAt(text: string, at: number): string {
  const pair = mayPair.test(text[at + 1] ?? '')
    ? punctuation.find((one) => text.startsWith(one, at))
    : undefined;
  return pair ?? text[at] ?? '';
}

/** True where a character (a byte of one) may stand in a word. */
export function isWordAt(text: string, at: number, { wordExtra }: Syntax): boolean {
  const char = text[at];
  if (char === undefined) return false;
  const code = char.charCodeAt(0);
  const isAscii =
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
  // Any byte of a multi-byte character may name something.
  return isAscii || code >= 128 || (wordExtra.includes(char) && !isOperator(text, at, char));
}

/** `?` and `!` end a Ruby word; `%`, `@`, `$` start a variable; elsewhere they are operators. */
function isOperator(text: string, at: number, char: string): boolean {
  const before = text[at - 1] ?? ' ';
  const after = text[at + 1] ?? ' ';
  if (char === '?' || char === '!') return !/\w/.test(before) || after === '=' || /\w/.test(after);
  return char === '%' && (!/[A-Za-z_]/.test(after) || /[\w)\]}]/.test(before));
}

/** Perl's and Ruby's `$'`, `$"`, `$#x`, and Ruby's `?"`: the second character opens nothing. */
export function isPunctuationVariable(text: string, at: number, { special }: Syntax): boolean {
  if (special !== 'perl' && special !== 'ruby') return false;
  const next = text[at + 1] ?? ' ';
  if (text[at] === '$') return /["'`#/\\;!&,.]/.test(next);
  const isCharacter = special === 'ruby' && text[at] === '?' && /["'`#/]/.test(next);
  return isCharacter && !/\w/.test(text[at - 1] ?? ' ') && !/\S/.test(text[at + 2] ?? ' ');
}

/** `__END__` or `__DATA__` alone on its line: what follows is no code in Ruby and Perl. */
export function endsCode(text: string, start: number, end: number, { special }: Syntax): boolean {
  if ((special !== 'ruby' && special !== 'perl') || !/^__(?:END|DATA)__$/.test(text.slice(start, end)))
    return false;
  return (
    /^(?:\n|)$/.test(text.slice(Math.max(0, start - 1), start)) &&
    /^(?:[\r\n]|)$/.test(text.slice(end, end + 1))
  );
}

/** Past a Rust quote: `'x'` is a character, `'a` a lifetime. */
export function rustQuoteEnd(text: string, at: number): number {
  const close = text[at + 1] === '\\' ? text.indexOf("'", at + 3) : text[at + 2] === "'" ? at + 2 : at;
  return close > at && close - at < 16 ? close + 1 : at + 1;
}

/** A JavaScript word with its `\u` escapes read. */
export function unescapeWord(raw: string): string {
  return raw
    .slice(0, maxLength)
    .replace(/\\u(?:\{0*([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g, (all, braced?: string, four?: string) => {
      const code = Number.parseInt(braced ?? four ?? '', 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    });
}

/** True where a comment up to the end of the line starts. */
export function startsLineComment(text: string, at: number, { lineComments, special }: Syntax): boolean {
  for (const open of lineComments) {
    if (!text.startsWith(open, at)) continue;
    // An attribute of PHP.
    if (special === 'php' && open === '#' && text[at + 1] === '[') continue;
    // A URL in the text of markup.
    if (special === 'javascript' && text[at - 1] === ':' && /\w/.test(text[at - 2] ?? ' ')) continue;
    return true;
  }
  return false;
}

/** A line comment ends where the language's own reader ends it: CR and U+2028 are line ends too, `?>` leaves PHP. */
export function lineCommentEnd(text: string, at: number, { special }: Syntax): number {
  for (let end = at; end < text.length; end += 1) {
    const char = text[end];
    if (char === '\n' || char === '\r') return end;
    if (special === 'php' && char === '?' && text[end + 1] === '>') return end;
    // The bytes of U+2028 and U+2029.
    if (char === '\u00e2' && /^\u0080[\u00a8\u00a9]/.test(text.slice(end + 1, end + 3))) return end + 3;
  }
  return text.length;
}

/** Past the closer of a block comment; `undefined` where `limit` comes first. */
export function blockCommentEnd(
  text: string,
  at: number,
  { open, close, nests }: Syntax['blockComments'][number],
  limit: number,
): number | undefined {
  let depth = 1;
  let from = at + open.length;
  while (from < limit) {
    if (text.startsWith(close, from)) {
      depth -= 1;
      from += close.length;
      if (depth === 0) return from;
    } else if (nests && text.startsWith(open, from)) {
      depth += 1;
      from += open.length;
    } else from += 1;
  }
  return undefined;
}

/**
 * Past a block that counts only at the start of a line (Ruby's `=begin`, Perl's POD); `at` itself where none starts.
 */
export function documentationEnd(text: string, at: number, { special }: Syntax): number {
  if ((special !== 'ruby' && special !== 'perl') || text[at] !== '=') return at;
  const opens = special === 'ruby' ? text.startsWith('=begin', at) : /[a-z]/i.test(text[at + 1] ?? '');
  if (!opens) return at;
  const close = text.indexOf(special === 'ruby' ? '\n=end' : '\n=cut', at);
  const end = close === -1 ? -1 : text.indexOf('\n', close + 1);
  return end === -1 ? text.length : end;
}
