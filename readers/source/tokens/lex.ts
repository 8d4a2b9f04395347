/* Splits a source into tokens without a grammar. */
import type { Language } from '../language.ts';

/** A piece of code. `text` is the word or punctuation; of strings and regular expressions the first 200 characters. */
export interface Token {
  readonly kind: 'word' | 'string' | 'punct' | 'newline';
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** A string that holds code or variables. */
  readonly dynamic: boolean;
}

const maxNesting = 100;
const maxText = 200;
/** Of a quote that is written as an operator: keeps a file full of unclosed ones linear. */
const maxQuote = 2048;
const space = /(?:[ \t\r\f\v]|\\\r?\n)+/y;
const mark = /===|!==|\.\.\.|=>|->|::|\?\.|==|!=|<=|>=|&&|\|\||\?\?|=~|\*\*|[\s\S]/y;
const regex = /\/(?:[^\n/\\[]|\\[^\n]|\[(?:[^\n\]\\]|\\[^\n])*\])+\/[a-zA-Z]*/y;
/** After these a `/` starts a regular expression. */
const beforeRegex =
  /^(?:return|typeof|instanceof|in|of|new|delete|void|throw|case|do|else|yield|await|if|elsif|unless|while|until|and|or|not|when|then|split|grep|map|puts)$/;
const pairs: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/**
 * Splits source into tokens in time linear in its length; never throws. An unterminated single-line quote is
 * punctuation. In pieces of a file with an unknown start, strings and comments end with their line. The same applies
 * if a text ends inside a comment, string or embedded code. Text that such a token would hide is then read as code.
 */
export function readTokens(
  text: string,
  language: Exclude<Language, 'shell'>,
  isWhole: boolean,
): readonly Token[] {
  const syntax = syntaxes[language];
  return (isWhole ? lex(text, syntax, false) : undefined) ?? lex(text, syntax, true) ?? [];
}

/** `undefined` where the text ends inside something. */
function lex(text: string, syntax: Syntax, lineBound: boolean): readonly Token[] | undefined {
  const { special } = syntax;
  const tokens: Token[] = [];
  /** Per opener: the offset before which no closer was found. */
  const unclosed = new Map<string, number>();
  /** Terminators of the documents that the line before announced. */
  const announced: { readonly word: string; readonly isIndented: boolean }[] = [];
  let isConfused = false;
  let depth = 0;
  /** A part of a line with its end, cached so that no token of a long line searches for it again. */
  let line = { from: 0, end: -1 };
  const isMarkup = special === 'php' && !lineBound;
  const from = isMarkup ? pastMarkup(0) : text.startsWith('#!') ? lineEnd(0) : 0;
  readCode(pastDocumentation(from), false, false);
  return isConfused && !lineBound ? undefined : tokens;

  /** Reads code up to the `}` that closes an interpolation, or to the end: where it stopped, or -1 without that `}`. */
  function readCode(start: number, isEmbedded: boolean, isOneLine: boolean): number {
    let braces = 0;
    for (let at = start; at < text.length && !isConfused; ) {
      const char = text[at];
      if (char === '\n') {
        if (isOneLine) return -1;
        if (syntax.newlines) push('newline', at, at + 1);
        at = pastDocumentation(pastDocuments(at + 1));
        continue;
      }
      const next = pastMatch(space, text, at) ?? pastComment(at);
      if (next !== undefined) {
        at = next;
        continue;
      }
      if (isEmbedded && char === '}' && braces === 0) return at;
      if (isEmbedded && (char === '{' || char === '}')) braces += char === '{' ? 1 : -1;
      // Line-bound text keeps whatever spans lines as code: its beginning may be a misreading.
      at = isMarkup && text.startsWith('?>', at) ? pastMarkup(at + 2) : readToken(at);
    }
    return isEmbedded ? -1 : text.length;
  }

  function readToken(at: number): number {
    const quoted =
      readDocument(at) ?? readOperator(at) ?? pastMatch(syntax.literal, text, at) ?? readString(at);
    if (quoted !== undefined || isConfused) return quoted ?? text.length;
    if (syntax.regex && text[at] === '/' && mayStartRegex(at)) {
      const close = (unclosed.get('/') ?? -1) > at ? undefined : pastMatch(regex, text, at);
      if (close !== undefined) return push('string', at, close);
      unclosed.set('/', lineEnd(at));
    }
    const word = pastMatch(syntax.word, text, at);
    if (word === undefined) return push('punct', at, pastMatch(mark, text, at) ?? at + 1);
    push('word', at, word);
    // In Ruby and Perl, the text that follows is not code.
    const isEnd = !lineBound && syntax.documentation && text.startsWith('__', at);
    return isEnd && /^\n?__(?:END|DATA)__\r?\n?$/.test(text.slice(Math.max(0, at - 1), word + 1))
      ? text.length
      : word;
  }

  /** Reads the start of a here-document, if `<<` is not an operator. */
  function readDocument(at: number): number | undefined {
    if (lineBound || !syntax.document || !text.startsWith('<<', at)) return undefined;
    syntax.document.lastIndex = at;
    const [all, sign = '', quote = '', word = ''] = syntax.document.exec(text) ?? [];
    if (all === undefined) return undefined;
    // `a << b` shifts; a bare name touches the mark and, after a value, is upper case by custom.
    const before = tokens.at(-1);
    const isAfterValue = before?.end === at && before.kind !== 'punct' && before.kind !== 'newline';
    if (special !== 'php' && quote === '' && sign === '' && (isAfterValue || word !== word.toUpperCase()))
      return undefined;
    announced.push({ word, isIndented: special === 'php' || sign !== '' });
    return push('string', at, at + all.length, '');
  }

  /** A quote that is written as an operator: Perl's `qq{…}` and `s/…/…/`, Ruby's `%w[…]`. */
  function readOperator(at: number): number | undefined {
    const open = pastMatch(syntax.operator, text, at);
    const first = open === undefined ? undefined : closeOf(open);
    if (open === undefined || first === undefined) return undefined;
    const name = text.slice(at, open).trimEnd();
    const before = tokens.at(-1);
    if (special === 'ruby') {
      const isAfterValue = before && (/^(?:word|string)$/.test(before.kind) || /^[)\]]$/.test(before.text));
      if (isAfterValue && (name === '%' || text[at - 1] !== ' ')) return undefined;
    } else if (before?.text === '->' || before?.text === 'sub') return undefined;
    const gap = text[open] === text[first - 1] ? first - 1 : (pastMatch(/\s*/y, text, first) ?? first);
    const last = /^(?:s|tr|y)$/.test(name) ? closeOf(gap) : first;
    const end = last && /^(?:m|s|tr|y|qr)$/.test(name) ? pastMatch(/[a-z]{0,20}/y, text, last) : last;
    if (end === undefined || (lineBound && end > lineEnd(at))) return undefined;
    const said = text.slice(open + 1, Math.min(first - 1, open + maxText));
    return push('string', at, end, said, /^(?:q[qx]|%[QWIrx]?)$/.test(name));
  }

  /** Past the delimiter that closes the one at `open`; brackets nest. */
  function closeOf(open: number): number | undefined {
    const opener = text[open] ?? '';
    const closer = pairs[opener] ?? opener;
    const limit = Math.min(text.length, open + maxQuote);
    for (let at = open + 1, nested = 1; at < limit; at += 1) {
      const char = text[at];
      if (char === '\\') at += 1;
      else if (char === closer) {
        nested -= 1;
        if (nested === 0) return at + 1;
      } else if (char === opener) nested += 1;
    }
    return undefined;
  }

  /** Reads a string and the code in it; `undefined` where none is here, or it is not closed as its form demands. */
  function readString(from: number): number | undefined {
    const at = pastMatch(syntax.prefix, text, from) ?? from;
    const form = syntax.strings.find(({ open }) => text.startsWith(open, at));
    if (!form) return undefined;
    const { open, close } = form;
    const codes = /[ft]/i.test(text.slice(from, at)) ? ['{'] : form.code;
    const isOneLine = lineBound || !form.multiline;
    if (isOneLine && (unclosed.get(open) ?? -1) > at) return undefined;
    const place = tokens.length;
    const start = at + open.length;
    let dynamic = false;
    push('string', at, at, '');
    for (let next = start; ; ) {
      const char = text[next];
      const opener = codes?.find((one) => text.startsWith(one, next));
      const isClose = text.startsWith(close, next);
      if (char === undefined || (isOneLine && char === '\n')) return fail(next);
      if (form.escape === 'backslash' && char === '\\') next += text.startsWith('\r\n', next + 1) ? 3 : 2;
      else if (isClose && form.escape === 'double' && text.startsWith(close, next + 1)) next += 2;
      else if (isClose) {
        const end = next + close.length;
        const said = text.slice(start, Math.min(next, start + maxText));
        tokens[place] = { kind: 'string', text: said, start: at, end, dynamic };
        return end;
      } else if (opener === '{' && text[next + 1] === '{') next += 2;
      else if (opener !== undefined) {
        dynamic = true;
        const past = readEmbedded(next, opener, isOneLine);
        if (past === undefined) return fail(lineEnd(next));
        next = past;
      } else next += 1;
    }

    function fail(end: number): undefined {
      tokens.length = place;
      unclosed.set(open, end);
      if (!isOneLine) isConfused = true;
      return undefined;
    }
  }

  /** Reads the code of one interpolation, set in braces among the tokens. */
  function readEmbedded(at: number, opener: string, isOneLine: boolean): number | undefined {
    if (depth >= maxNesting) {
      isConfused = true;
      return undefined;
    }
    push('punct', at, at + opener.length, '{');
    depth += 1;
    const close = readCode(opener === '{$' ? at + 1 : at + opener.length, true, isOneLine);
    depth -= 1;
    return close === -1 ? undefined : push('punct', close, close + 1);
  }

  /** Past the comment that starts here; `undefined` where none does. */
  function pastComment(at: number): number | undefined {
    const next = pastMatch(syntax.lineComment, text, at);
    if (next !== undefined || !syntax.blockComment || !text.startsWith('/*', at)) return next;
    if (lineBound && (unclosed.get('/*') ?? -1) > at) return undefined;
    const limit = lineBound ? lineEnd(at) : text.length;
    for (let end = at + 2, nested = 1; end < limit; end += 1) {
      if (text.startsWith('*/', end)) nested -= 1;
      else if (syntax.blockComment === 'nests' && text.startsWith('/*', end)) nested += 1;
      else continue;
      end += 1;
      if (nested === 0) return end + 1;
    }
    unclosed.set('/*', limit);
    isConfused ||= !lineBound;
    return lineBound ? undefined : text.length;
  }

  /** Past a block that counts only at the start of a line: Ruby's `=begin`, Perl's POD. */
  function pastDocumentation(at: number): number {
    const [open, close = ''] = syntax.documentation ?? [];
    if (lineBound || pastMatch(open, text, at) === undefined) return at;
    const last = text.indexOf(close, at);
    const end = last === -1 ? -1 : text.indexOf('\n', last + 1);
    return end === -1 ? text.length : end;
  }

  /** Past the documents that the line before announced; code may go on behind a terminator: `TEXT;` and `TEXT)`. */
  function pastDocuments(from: number): number {
    let at = from;
    for (const { word, isIndented } of announced.splice(0)) {
      const terminator = new RegExp(`^${isIndented ? '[ \\t]*' : ''}${word}[;,)\\]\\r]*$`, 'gm');
      terminator.lastIndex = at;
      isConfused ||= !terminator.test(text);
      at = isConfused ? text.length : terminator.lastIndex + 1;
    }
    return at;
  }

  function pastMarkup(at: number): number {
    const open = text.indexOf('<?', at);
    if (open === -1) return text.length;
    push('punct', open, open + 2, ';');
    return pastMatch(/<\?(?:php|=)?/iy, text, open) ?? text.length;
  }

  /** Distinguishes a division from the start of a regular expression by the token before it. */
  function mayStartRegex(at: number): boolean {
    const before = tokens.at(-1);
    const next = text[at + 1] ?? ' ';
    if (!before || before.kind === 'newline') return true;
    if (before.kind === 'word')
      return beforeRegex.test(before.text) || (special === 'ruby' && before.end < at && !/[\s=]/.test(next));
    if (before.kind !== 'punct') return false;
    // Markup: `</p>` and `/>`; comparing with a regular expression makes no sense.
    if (special === 'javascript' && (/[<>]$/.test(before.text) || next === '>')) return before.text === '=>';
    return !/^(?:[)\]]|\+\+|--)$/.test(before.text);
  }

  function lineEnd(at: number): number {
    if (at < line.from || at > line.end) {
      const end = text.indexOf('\n', at);
      line = { from: at, end: end === -1 ? text.length : end };
    }
    return line.end;
  }

  function push(
    kind: Token['kind'],
    start: number,
    end: number,
    said = text.slice(start, Math.min(end, start + maxText)),
    dynamic = false,
  ): number {
    tokens.push({ kind, text: said, start, end, dynamic });
    return end;
  }
}

function pastMatch(form: RegExp | undefined, text: string, at: number): number | undefined {
  if (!form) return undefined;
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : undefined;
}

/** One way to write a string. */
interface StringForm {
  readonly open: string;
  readonly close: string;
  readonly escape: 'backslash' | 'double' | 'none';
  readonly multiline: boolean;
  /** What opens code inside the string; it ends at the matching `}`. */
  readonly code?: readonly string[];
}

/** How one language separates code from comments and strings. Patterns are sticky. */
interface Syntax {
  readonly lineComment: RegExp;
  /** Whether it has C's block comments. */
  readonly blockComment?: 'flat' | 'nests';
  /** Longer openers first. */
  readonly strings: readonly StringForm[];
  readonly word: RegExp;
  /** `/…/` may be a regular expression. */
  readonly regex?: boolean;
  readonly newlines?: boolean;
  /** Letters before a quote. */
  readonly prefix?: RegExp;
  /** A quote that opens no string, or a character in quotes. */
  readonly literal?: RegExp;
  /** What announces a document: its sign, quote and terminator. */
  readonly document?: RegExp;
  /** A quote that is written as an operator, before its delimiter. */
  readonly operator?: RegExp;
  /** What opens and closes a comment at the start of a line. */
  readonly documentation?: readonly [open: RegExp, close: string];
  readonly special?: 'ruby' | 'php' | 'javascript';
}

/** A string between `open` and its mirror, over one line, with backslashes. */
const form = (open: string, more: Partial<StringForm> = {}): StringForm => ({
  open,
  close: open,
  escape: 'backslash',
  multiline: false,
  ...more,
});
/** The same over several lines; `code` opens code in it. */
const long = (
  open: string,
  code: string | undefined = undefined,
  more: Partial<StringForm> = {},
): StringForm =>
  form(open, { multiline: true, ...(code === undefined ? {} : { code: code.split(' ') }), ...more });
const double = form('"');
const single = form("'");
const raw = { escape: 'none' } as const;
/** Letters, digits and `_`, every byte of other characters, and `more`. */
const word = (more = '', first = ''): RegExp => new RegExp(`${first}(?:[\\w\\x80-\\xff${more}])+`, 'y');
/** `?` and `!` end a word; elsewhere they are operators. */
const marked = String.raw`]|(?<=\w)[?!](?![=\w])|[@`;
/** Perl's and Ruby's `$'`, `$"`, `$#x`: the second character opens no string or comment. */
const punctuated = String.raw`\$["'\`#/\\;!&,.]|`;
const cLike = { lineComment: /\/\/[^\n\r]*/y, blockComment: 'flat', word: word() } as const;
const nesting = { ...cLike, blockComment: 'nests' } as const;
const hashed = { lineComment: /#[^\n\r]*/y, word: word(), newlines: true };

/** Syntax of every language but shell. */
const syntaxes: Readonly<Record<Exclude<Language, 'shell'>, Syntax>> = {
  javascript: {
    ...cLike,
    // A URL in the text of markup is not a comment.
    lineComment: /(?<!\w:)\/\/[^\n\r]*/y,
    strings: [long('`', '${'), double, single],
    word: word('$#'),
    regex: true,
    special: 'javascript',
  },
  python: {
    ...hashed,
    strings: [long('"""'), long("'''"), double, single],
    prefix: /[rbuft]{1,2}(?=["'])/iy,
  },
  ruby: {
    ...hashed,
    strings: [long('`', '#{'), long('"', '#{'), long("'")],
    word: word(`$${marked}`, String.raw`${punctuated}(?<!\w)\?["'\`#/](?!\S)|`),
    regex: true,
    document: /<<([~-]?)(["'`]?)([A-Za-z_]\w{0,99})\2/y,
    operator: /%[qQwWiIxrs]?(?=[([{<|!/])/y,
    documentation: [/=begin/y, '\n=end'],
    special: 'ruby',
  },
  perl: {
    ...hashed,
    strings: [long('`'), long('"', '@{ ${'), long("'")],
    word: word(String.raw`$@]|(?<![\w)\]}])%(?=[A-Za-z_])|[_`, punctuated),
    regex: true,
    document: /<<(~?)(["']?)([A-Za-z_]\w{0,99})\2/y,
    operator: /(?<![\w$@%&])(?:(?:qq|qw|qr|qx|q|m|s|tr|y)(?!\w))(?: *(?=[^\w\s,;)}=#])|(?=#))/y,
    documentation: [/=[a-z]/iy, '\n=cut'],
  },
  php: {
    ...cLike,
    lineComment: /(?:\/\/|#(?!\[))(?:(?!\?>)[^\n\r])*/y,
    strings: [long('`'), long('"', '{$ ${'), long("'")],
    word: word('$'),
    document: /<<<()[ \t]*(["']?)([A-Za-z_]\w{0,99})\2/y,
    special: 'php',
  },
  java: { ...cLike, strings: [long('"""'), double, single] },
  kotlin: { ...nesting, strings: [long('"""', '${', raw), form('"', { code: ['${'] }), single] },
  scala: {
    ...nesting,
    strings: [long('"""', '${', raw), form('"', { code: ['${'] }), single],
    newlines: true,
  },
  go: { ...cLike, strings: [long('`', undefined, raw), double, single], newlines: true },
  csharp: {
    ...cLike,
    strings: [
      long('$"""', '{', { ...raw, close: '"""' }),
      long('"""', undefined, raw),
      long('$@"', '{', { escape: 'double', close: '"' }),
      long('@$"', '{', { escape: 'double', close: '"' }),
      long('@"', undefined, { escape: 'double', close: '"' }),
      form('$"', { code: ['{'], close: '"' }),
      double,
      single,
    ],
  },
  rust: { ...nesting, strings: [long('"')], literal: /'(?:\\[\s\S][^']{0,12}'|[\s\S]')?/y },
  c: { ...cLike, strings: [double, single] },
  swift: { ...nesting, strings: [long('"""'), double], newlines: true },
  elixir: {
    ...hashed,
    strings: [long('"""', '#{'), long("'''"), long('"', '#{'), long("'")],
    word: word(marked),
  },
};
