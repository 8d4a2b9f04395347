import type { Token, TokenKind } from './token.ts';

/** A heredoc announced on a line; its body starts on the next. */
export interface Heredoc {
  readonly terminator: string;
  /** The terminator may be indented. */
  readonly indented: boolean;
  /** Variables and code in the body are evaluated. */
  readonly dynamic: boolean;
  /** Where its announcement ends. */
  readonly end: number;
}

/** A quote written as an operator: Perl's `qq{…}` and `s/…/…/`, Ruby's `%w[…]` and `%x(…)`. */
export interface QuoteLike {
  readonly kind: TokenKind;
  readonly text: string;
  readonly end: number;
  readonly dynamic: boolean;
}

const heredocs = {
  php: /<<<()[ \t]*(["']?)([A-Za-z_]\w{0,99})\2/y,
  ruby: /<<([~-]?)(["'`]?)([A-Za-z_]\w{0,99})\2/y,
  perl: /<<(~?)(["']?)([A-Za-z_]\w{0,99})\2/y,
} as const;
const operators = {
  perl: /(?<![\w$@%&])(?:(?:qq|qw|qr|qx|q|m|s|tr|y)(?!\w))(?: *(?=[^\w\s,;)}=#])|(?=#))/y,
  ruby: /%[qQwWiIxrs]?(?=[([{<|!/])/y,
};
const pairs: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };
/** Keeps a file full of unclosed quotes linear. */
const maxLength = 2048;

/** The heredoc announced at this offset; `undefined` where `<<` is an operator. */
export function heredocAt(
  text: string,
  at: number,
  language: keyof typeof heredocs,
  previous: Token | undefined,
): Heredoc | undefined {
  if (!text.startsWith('<<', at)) return undefined;
  const form = heredocs[language];
  form.lastIndex = at;
  const [all, squiggle, quote, terminator = ''] = form.exec(text) ?? [];
  if (all === undefined) return undefined;
  // `a << b` shifts; a heredoc's bare name touches the mark and, after a value, is upper case by custom.
  const isAfterValue = previous?.end === at && previous.kind !== 'punct' && previous.kind !== 'newline';
  const isBare = language !== 'php' && !quote && !squiggle;
  if (isBare && (isAfterValue || terminator !== terminator.toUpperCase())) return undefined;
  const indented = language === 'php' || squiggle !== '';
  return { terminator, indented, dynamic: quote !== "'", end: at + all.length };
}

/** Lines of a body that starts at `from`, and where the text goes on behind its terminator. */
export function heredocBody(
  text: string,
  from: number,
  { terminator, indented }: Heredoc,
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

/** The operator quote at this offset; `undefined` where the letters are a plain word. */
export function quoteLikeAt(
  text: string,
  at: number,
  language: 'ruby' | 'perl',
  previous: Token | undefined,
): QuoteLike | undefined {
  const form = operators[language];
  form.lastIndex = at;
  const operator = form.exec(text)?.[0];
  if (operator === undefined) return undefined;
  const open = at + operator.length;
  const first = closeOf(text, open);
  if (first === undefined) return undefined;
  const inner = text.slice(open + 1, Math.min(first - 1, open + 200));
  if (language === 'ruby') {
    const letter = operator.slice(1);
    const isAfterValue = previous !== undefined && !/^(?:punct|newline)$/.test(previous.kind);
    if ((isAfterValue || /^[)\]]$/.test(previous?.text ?? '')) && (letter === '' || text[at - 1] !== ' '))
      return undefined;
    const kind = letter === 'x' ? 'command' : letter === 'r' ? 'regex' : 'string';
    return { kind, text: inner, end: first, dynamic: !/[qwis]/.test(letter) };
  }
  const name = operator.trimEnd();
  if (previous?.text === '->' || previous?.text === 'sub') return undefined;
  if (!/^(?:m|s|tr|y|qr)$/.test(name))
    return {
      kind: name === 'qx' ? 'command' : 'string',
      text: inner,
      end: first,
      dynamic: /^q[qx]$/.test(name),
    };
  let end: number | undefined = first;
  if (name !== 'm' && name !== 'qr') {
    const gap = /^\s*/.exec(text.slice(first, first + maxLength))?.[0].length ?? 0;
    end = closeOf(text, (text[open] ?? '') in pairs ? first + gap : first - 1);
  }
  if (end === undefined) return undefined;
  const flags = /^[a-z]*/.exec(text.slice(end, end + maxLength))?.[0] ?? '';
  return { kind: 'regex', text: `${name}/${flags.slice(0, 20)}`, end: end + flags.length, dynamic: false };
}

/** Past the delimiter that closes the one at `open`; brackets nest. Bounded. */
function closeOf(text: string, open: number): number | undefined {
  const opener = text[open] ?? '';
  const closer = pairs[opener] ?? opener;
  const limit = Math.min(text.length, open + maxLength);
  let depth = 1;
  for (let at = open + 1; at < limit; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === closer) {
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (char === opener) depth += 1;
  }
  return undefined;
}
