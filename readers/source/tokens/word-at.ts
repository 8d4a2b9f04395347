import type { Syntax } from './syntax.ts';

const maxLength = 800;

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
