import type { Token, TokenKind } from './token.ts';

/** A quote written as an operator: Perl's `qq{…}` and `s/…/…/`, Ruby's `%w[…]` and `%x(…)`. */
export interface QuoteLike {
  readonly kind: TokenKind;
  readonly text: string;
  readonly end: number;
  readonly dynamic: boolean;
}

const pairs: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };
const perlOperator = /(?:qq|qw|qr|qx|q|m|s|tr|y)(?![\w])/y;
/** Keeps a file full of unclosed quotes linear. */
const maxLength = 2048;

/** The operator quote at this offset; `undefined` where the letters are a plain word. */
export function quoteLikeAt(
  text: string,
  at: number,
  language: 'ruby' | 'perl',
  previous: Token | undefined,
): QuoteLike | undefined {
  return language === 'perl' ? perlQuote(text, at, previous) : rubyQuote(text, at, previous);
}

function perlQuote(text: string, at: number, previous: Token | undefined): QuoteLike | undefined {
  if (/[\w$@%&]/.test(text[at - 1] ?? ' ')) return undefined;
  perlOperator.lastIndex = at;
  const operator = perlOperator.exec(text)?.[0];
  if (operator === undefined || previous?.text === '->' || previous?.text === 'sub') return undefined;
  let open = at + operator.length;
  while (text[open] === ' ') open += 1;
  const delimiter = text[open] ?? '';
  if (!/[^\w\s,;)}=]/.test(delimiter) || (delimiter === '#' && open > at + operator.length)) return undefined;
  const first = closeOf(text, open);
  if (first === undefined) return undefined;
  let end = first;
  if (operator === 's' || operator === 'tr' || operator === 'y') {
    let second = first - 1;
    if (delimiter in pairs) {
      second = first;
      while (/\s/.test(text[second] ?? '')) second += 1;
    }
    const past = closeOf(text, second);
    if (past === undefined) return undefined;
    end = past;
  }
  let flags = end;
  while (/[a-z]/.test(text[flags] ?? '')) flags += 1;
  const isRegex = /^(?:m|s|tr|y|qr)$/.test(operator);
  const kind = operator === 'qx' ? 'command' : isRegex ? 'regex' : 'string';
  return {
    kind,
    text: isRegex
      ? `${operator}/${text.slice(end, Math.min(flags, end + 20))}`
      : text.slice(open + 1, Math.min(first - 1, open + 200)),
    end: isRegex ? flags : end,
    dynamic: operator === 'qq' || operator === 'qx',
  };
}

function rubyQuote(text: string, at: number, previous: Token | undefined): QuoteLike | undefined {
  if (text[at] !== '%') return undefined;
  const followsValue =
    previous !== undefined &&
    (previous.kind !== 'punct' || previous.text === ')' || previous.text === ']') &&
    previous.kind !== 'newline';
  const letter = /[qQwWiIxrs]/.test(text[at + 1] ?? '') ? (text[at + 1] ?? '') : '';
  if (followsValue && (letter === '' || text[at - 1] !== ' ')) return undefined;
  const open = at + 1 + letter.length;
  if (!/[([{<|!/]/.test(text[open] ?? '')) return undefined;
  const end = closeOf(text, open);
  if (end === undefined) return undefined;
  const kind = letter === 'x' ? 'command' : letter === 'r' ? 'regex' : 'string';
  return {
    kind,
    text: text.slice(open + 1, Math.min(end - 1, open + 200)),
    end,
    dynamic: !/[qwis]/.test(letter),
  };
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
