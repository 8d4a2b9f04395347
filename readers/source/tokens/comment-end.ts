import type { Syntax } from './syntax.ts';

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
