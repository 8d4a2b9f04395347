import { type Heredoc, heredocAt, heredocBody, quoteLikeAt } from './quote-like.ts';
import type { StringForm, Syntax } from './syntax.ts';
import type { Lexed, Token, TokenKind } from './token.ts';

const maxNesting = 100;
const maxText = 200;
const space = /(?:[ \t\r\f\v]|\\\r?\n)+/y;
const mark = /===|!==|\.\.\.|=>|->|::|\?\.|==|!=|<=|>=|&&|\|\||\?\?|=~|\*\*|[\s\S]/y;
const rustQuote = /'(?:\\[\s\S][^']{0,12}'|[\s\S]')?/y;
const regex = /\/(?:[^\n/\\[]|\\[^\n]|\[(?:[^\n\]\\]|\\[^\n])*\])+\/[a-zA-Z]*/y;
/** After these a `/` starts a regular expression. */
const beforeRegex = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await if elsif unless while until and or not when then split grep map puts'.split(
    ' ',
  ),
);
/** Words before `{` that make it an object literal. */
const beforeObject = new Set('return typeof in of new void throw case yield await default'.split(' '));
const beforeBlock = new Set([')', ';', '{', '}', '=>', ':']);

/**
 * Splits source into tokens in time linear in its length; never throws. An unterminated single-line quote is
 * punctuation. With `lineBound`, strings and comments end with their line: for text whose beginning is unknown.
 */
export function lex(text: string, syntax: Syntax, { lineBound }: { readonly lineBound: boolean }): Lexed {
  return new Lexer(text, syntax, lineBound).run();
}

class Lexer {
  readonly #text: string;
  readonly #syntax: Syntax;
  readonly #lineBound: boolean;
  readonly #tokens: Token[] = [];
  /** Per opener: the offset before which no closer was found. */
  readonly #unclosed = new Map<string, number>();
  /** Per open bracket: whether a `/` right after its closer starts a regular expression. */
  readonly #openers: boolean[] = [];
  #regexAfterClose = false;
  #heredocs: Heredoc[] = [];
  #confused = false;
  #depth = 0;
  /** The part of a line whose end is known, so that no token of a long line searches for it again. */
  #line = { from: 0, end: -1 };

  constructor(text: string, syntax: Syntax, lineBound: boolean) {
    this.#text = text;
    this.#syntax = syntax;
    this.#lineBound = lineBound;
  }

  run(): Lexed {
    let start = 0;
    if (this.#syntax.special === 'php' && !this.#lineBound) start = this.#skipMarkup(0);
    else if (this.#text.startsWith('#!')) start = this.#lineEnd(0);
    this.#code(this.#pastDocumentation(start), false, false);
    return { tokens: this.#tokens, confused: this.#confused };
  }

  /** Reads code up to the `}` that closes an interpolation, or to the end: where it stopped, or -1 without that `}`. */
  #code(from: number, isEmbedded: boolean, isOneLine: boolean): number {
    const text = this.#text;
    let braces = 0;
    let at = from;
    while (at < text.length && !this.#confused) {
      const char = text[at] ?? '';
      if (char === '\n') {
        if (isOneLine) return -1;
        if (this.#syntax.newlines) this.#push('newline', '\n', at, at + 1);
        at = this.#pastDocumentation(this.#pastHeredocs(at + 1));
        continue;
      }
      const past = char === '/' || char === '#' ? this.#comment(at) : pastMatch(space, text, at);
      if (past !== undefined) {
        at = past;
        continue;
      }
      if (isEmbedded && char === '}' && braces === 0) return at;
      if (isEmbedded && char === '{') braces += 1;
      if (isEmbedded && char === '}') braces -= 1;
      at = this.#token(at, char);
    }
    return isEmbedded ? -1 : at;
  }

  #token(at: number, char: string): number {
    const text = this.#text;
    const { special, strings } = this.#syntax;
    // Line-bound text keeps whatever spans lines as code: its beginning may be a misreading.
    if (special === 'php' && !this.#lineBound && text.startsWith('?>', at)) return this.#skipMarkup(at + 2);
    const past = this.#quoteLike(at) ?? (special === 'rust' ? pastMatch(rustQuote, text, at) : undefined);
    if (past !== undefined) return past;
    const prefix = special === 'python' ? pythonPrefix(text, at) : '';
    const quote = at + prefix.length;
    const found = strings.find(({ open }) => text.startsWith(open, quote));
    const form = found && /[ft]/i.test(prefix) ? { ...found, code: ['{'] } : found;
    const end = form && this.#string(quote, form);
    if (end !== undefined) return end;
    if (this.#confused) return text.length;
    if (char === '/' && this.#syntax.regex && this.#mayStartRegex(at)) {
      const close = (this.#unclosed.get('/') ?? -1) > at ? undefined : pastMatch(regex, text, at);
      if (close === undefined) this.#unclosed.set('/', this.#lineEnd(at));
      else {
        this.#push('regex', text.slice(at, Math.min(close, at + maxText)), at, close);
        return close;
      }
    }
    const word = pastMatch(this.#syntax.word, text, at);
    if (word !== undefined) return this.#word(at, word);
    const next = pastMatch(mark, text, at) ?? at + 1;
    this.#bracket(text.slice(at, next));
    this.#push('punct', text.slice(at, next), at, next);
    return next;
  }

  #word(at: number, end: number): number {
    const raw = this.#text.slice(at, end);
    const isNumber = /^\d/.test(raw);
    const read = this.#syntax.special === 'javascript' ? unescapeWord(raw.slice(0, 800)) : raw;
    this.#push(isNumber ? 'number' : 'word', read.slice(0, maxText), at, end);
    // What follows is no code in Ruby and Perl.
    const isEnd = !this.#lineBound && this.#hasDocumentation() && /^__(?:END|DATA)__$/.test(raw);
    const isAlone = isEnd && /^(?:\n|)$/.test(this.#text.slice(Math.max(0, at - 1), at));
    return isAlone && /^(?:[\r\n]|)$/.test(this.#text.slice(end, end + 1)) ? this.#text.length : end;
  }

  /** Heredocs, and quotes that are written as operators. */
  #quoteLike(at: number): number | undefined {
    const { special } = this.#syntax;
    if (special !== 'ruby' && special !== 'perl' && special !== 'php') return undefined;
    const previous = this.#tokens.at(-1);
    const found = this.#lineBound ? undefined : heredocAt(this.#text, at, special, previous);
    if (found) {
      this.#push('string', '', at, found.end).dynamic = found.dynamic;
      this.#heredocs.push(found);
      return found.end;
    }
    const quoted = special === 'php' ? undefined : quoteLikeAt(this.#text, at, special, previous);
    if (!quoted || (this.#lineBound && quoted.end > this.#lineEnd(at))) return undefined;
    this.#push(quoted.kind, quoted.text, at, quoted.end).dynamic = quoted.dynamic;
    return quoted.end;
  }

  /** Reads a string and the code in it; `undefined` where it is not closed as its form demands. */
  #string(at: number, form: StringForm): number | undefined {
    const text = this.#text;
    const oneLine = this.#lineBound || !form.multiline;
    if (oneLine && (this.#unclosed.get(form.open) ?? -1) > at) return undefined;
    const place = this.#tokens.length;
    const token = this.#push(form.kind ?? 'string', '', at, at);
    const start = at + form.open.length;
    let from = start;
    const fail = (end: number): undefined => {
      this.#tokens.length = place;
      this.#unclosed.set(form.open, end);
      if (!oneLine) this.#confused = true;
      return undefined;
    };
    while (from < text.length) {
      const char = text[from];
      const opener = form.code?.find((one) => text.startsWith(one, from));
      const isClose = text.startsWith(form.close, from);
      if (oneLine && char === '\n') return fail(from);
      if (form.escape === 'backslash' && char === '\\') from += text.startsWith('\r\n', from + 1) ? 3 : 2;
      else if (isClose && form.escape === 'double' && text.startsWith(form.close, from + 1)) from += 2;
      else if (isClose) {
        const end = from + form.close.length;
        this.#tokens[place] = { ...token, text: text.slice(start, Math.min(from, start + maxText)), end };
        return end;
      } else if (opener === '{' && text[from + 1] === '{') from += 2;
      else if (opener !== undefined) {
        token.dynamic = true;
        const past = this.#embedded(from, opener, oneLine);
        if (past === undefined) return fail(this.#lineEnd(from));
        from = past;
      } else from += 1;
    }
    return fail(text.length);
  }

  /** Reads the code of one interpolation, set in braces among the tokens. */
  #embedded(at: number, opener: string, isOneLine: boolean): number | undefined {
    if (this.#depth >= maxNesting) {
      this.#confused = true;
      return undefined;
    }
    const start = opener === '{$' ? at + 1 : at + opener.length;
    this.#push('punct', '{', at, at + opener.length);
    this.#openers.push(false);
    this.#depth += 1;
    const close = this.#code(start, true, isOneLine);
    this.#depth -= 1;
    this.#openers.pop();
    if (close === -1) return undefined;
    this.#push('punct', '}', close, close + 1);
    return close + 1;
  }

  /** Past the comment that starts here; `undefined` where none does. */
  #comment(at: number): number | undefined {
    const text = this.#text;
    const { lineComment, blockComment } = this.#syntax;
    const past = lineComment && pastMatch(lineComment, text, at);
    if (past !== undefined || !blockComment || !text.startsWith('/*', at)) return past;
    if (this.#lineBound && (this.#unclosed.get('/*') ?? -1) > at) return undefined;
    const limit = this.#lineBound ? this.#lineEnd(at) : text.length;
    for (let from = at + 2, depth = 1; from < limit; from += 1) {
      if (text.startsWith('*/', from)) depth -= 1;
      else if (blockComment === 'nests' && text.startsWith('/*', from)) depth += 1;
      else continue;
      from += 1;
      if (depth === 0) return from + 1;
    }
    this.#unclosed.set('/*', limit);
    if (this.#lineBound) return undefined;
    this.#confused = true;
    return text.length;
  }

  #hasDocumentation(): boolean {
    return this.#syntax.special === 'ruby' || this.#syntax.special === 'perl';
  }

  /** Past a block that counts only at the start of a line: Ruby's `=begin`, Perl's POD. */
  #pastDocumentation(at: number): number {
    const text = this.#text;
    if (this.#lineBound || text[at] !== '=' || !this.#hasDocumentation()) return at;
    const isRuby = this.#syntax.special === 'ruby';
    if (isRuby ? !text.startsWith('=begin', at) : !/[a-z]/i.test(text[at + 1] ?? '')) return at;
    const close = text.indexOf(isRuby ? '\n=end' : '\n=cut', at);
    const end = close === -1 ? -1 : text.indexOf('\n', close + 1);
    return end === -1 ? text.length : end;
  }

  /** Reads the bodies of the heredocs that the line before announced. */
  #pastHeredocs(from: number): number {
    let at = from;
    for (const heredoc of this.#heredocs.splice(0)) {
      const { lines, end, isClosed } = heredocBody(this.#text, at, heredoc);
      const opener = this.#syntax.special === 'ruby' ? '#{' : '{$';
      for (const line of heredoc.dynamic ? lines : []) {
        let next = this.#text.indexOf(opener, line.start);
        while (next !== -1 && next < line.end) {
          const past = this.#embedded(next, opener, true);
          next = past === undefined ? -1 : this.#text.indexOf(opener, past);
        }
      }
      if (!isClosed) this.#confused = true;
      at = end;
    }
    return at;
  }

  #skipMarkup(at: number): number {
    const open = this.#text.indexOf('<?', at);
    if (open === -1) return this.#text.length;
    this.#push('punct', ';', open, open + 2);
    const tag = /^<\?(?:php|=)?/i.exec(this.#text.slice(open, open + 5));
    return open + (tag?.[0].length ?? 2);
  }

  #bracket(written: string): void {
    const previous = this.#tokens.at(-1);
    if (/^[([{]$/.test(written)) this.#openers.push(startsRegexAfter(written, previous));
    else if (/^[)\]}]$/.test(written)) this.#regexAfterClose = this.#openers.pop() ?? false;
  }

  /** Tells a division from the start of a regular expression by what is before. */
  #mayStartRegex(at: number): boolean {
    const previous = this.#tokens.at(-1);
    const next = this.#text[at + 1] ?? ' ';
    if (!previous || previous.kind === 'newline') return true;
    if (previous.kind === 'word') {
      const isRuby = this.#syntax.special === 'ruby' && previous.end < at && !/[\s=]/.test(next);
      return isRuby || beforeRegex.has(previous.text);
    }
    if (previous.kind !== 'punct') return false;
    // Markup: `</p>` and `/>`; comparing with a regular expression makes no sense.
    if (this.#syntax.special === 'javascript' && (/[<>]$/.test(previous.text) || next === '>'))
      return previous.text === '=>';
    if (previous.text === ')' || previous.text === '}') return this.#regexAfterClose;
    return previous.text !== ']' && previous.text !== '++' && previous.text !== '--';
  }

  #lineEnd(at: number): number {
    if (at < this.#line.from || at > this.#line.end) {
      const end = this.#text.indexOf('\n', at);
      this.#line = { from: at, end: end === -1 ? this.#text.length : end };
    }
    return this.#line.end;
  }

  #push(kind: TokenKind, text: string, start: number, end: number): Token {
    const token: Token = { kind, text, start, end };
    this.#tokens.push(token);
    return token;
  }
}

function startsRegexAfter(open: string, previous: Token | undefined): boolean {
  if (open === '(') return previous?.kind === 'word' && /^(?:if|while|for|with)$/.test(previous.text);
  if (open !== '{') return false;
  if (previous?.kind === 'word') return !beforeObject.has(previous.text);
  return previous?.kind !== 'punct' || beforeBlock.has(previous.text);
}

function pastMatch(form: RegExp, text: string, at: number): number | undefined {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : undefined;
}

/** The letters before the quote of a Python string. */
function pythonPrefix(text: string, at: number): string {
  return /^[rbuft]{1,2}(?=["'])/i.exec(text.slice(at, at + 3))?.[0] ?? '';
}

/** A JavaScript word with its `\u` escapes read. */
function unescapeWord(raw: string): string {
  return raw.replace(
    /\\u(?:\{0*([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g,
    (all, braced?: string, four?: string) => {
      const code = Number.parseInt(braced ?? four ?? '', 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}
