import type { Token } from './token.ts';

/** A heredoc announced on a line; its body starts on the next. */
export interface PendingHeredoc {
  readonly terminator: string;
  /** The terminator may be indented. */
  readonly indented: boolean;
  /** Variables and code in the body are evaluated. */
  readonly dynamic: boolean;
}

const forms = {
  php: /<<<[ \t]*(["']?)([A-Za-z_]\w{0,99})\1/y,
  ruby: /<<([~-]?)(["'`]?)([A-Za-z_]\w{0,99})\2/y,
  perl: /<<(~?)(["']?)([A-Za-z_]\w{0,99})\2/y,
} as const;

/** The heredoc announced at this offset; `undefined` where `<<` is an operator. */
export function heredocAt(
  text: string,
  at: number,
  language: keyof typeof forms,
  previous: Token | undefined,
): { readonly heredoc: PendingHeredoc; readonly end: number } | undefined {
  if (text[at] !== '<' || text[at + 1] !== '<') return undefined;
  const form = forms[language];
  form.lastIndex = at;
  const match = form.exec(text);
  if (!match) return undefined;
  const end = at + match[0].length;
  if (language === 'php')
    return { heredoc: { terminator: match[2] ?? '', indented: true, dynamic: match[1] !== "'" }, end };
  const [, squiggle, quote, terminator = ''] = match;
  // `a << b` shifts; a heredoc's bare name touches the mark and, after a value, is upper case by custom.
  const followsValue =
    previous !== undefined && previous.end === at && previous.kind !== 'punct' && previous.kind !== 'newline';
  if (!quote && !squiggle && (followsValue || terminator !== terminator.toUpperCase())) return undefined;
  return { heredoc: { terminator, indented: squiggle !== '', dynamic: quote !== "'" }, end };
}

/** Lines of a body that starts at `from`, and where the text goes on behind its terminator. */
export function heredocBody(
  text: string,
  from: number,
  { terminator, indented }: PendingHeredoc,
): {
  readonly lines: readonly { readonly start: number; readonly end: number }[];
  readonly end: number;
  readonly isClosed: boolean;
} {
  const lines: { start: number; end: number }[] = [];
  for (let start = from; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed;
    const line = text.slice(start, end);
    // Code may go on behind the terminator: `TEXT;` and `TEXT)`.
    const word = (indented ? line.trimStart() : line).replace(/[;,)\]\r]+$/, '');
    if (word === terminator) return { lines, end: end + 1, isClosed: true };
    lines.push({ start, end });
    start = end + 1;
  }
  return { lines, end: text.length, isClosed: false };
}
