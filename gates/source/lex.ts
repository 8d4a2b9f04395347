import { heredocsAt, type PendingHeredoc } from './heredoc.ts';
import { quoteLikeAt } from './quote-like.ts';
import { pythonForm, type StringForm, type Syntax } from './syntax.ts';

export type TokenKind = 'word' | 'string' | 'command' | 'regex' | 'number' | 'punct' | 'newline';

/** A piece of code. `text` is the word or punctuation itself; for strings, what stands between the quotes (200 characters at most). */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  end: number;
  /** A string that holds code or variables. */
  dynamic?: boolean;
}

export interface LexOptions {
  /** Strings and comments end with their line: for text whose beginning is unknown. */
  readonly lineBound: boolean;
}

export interface Lexed {
  readonly tokens: readonly Token[];
  /** The text ended inside a comment, string or embedded code, so that what was hidden may be code. */
  readonly confused: boolean;
}

const maxNesting = 100;
const maxText = 200;
const wordChar = /[\p{ID_Continue}]/u;
const punctuation = [
  '===',
  '!==',
  '...',
  '=>',
  '->',
  '::',
  '?.',
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '??',
  '=~',
  '**',
];
/** Second characters of `punctuation`. */
const mayPair = /[=>:.&|?~*]/;
/** After these a `/` starts a regular expression. */
const beforeRegex = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await if elsif unless while until and or not when then split grep map puts'.split(
    ' ',
  ),
);
/** Words after which JavaScript and TypeScript allow a string. */
const beforeString = new Set([
  ...beforeRegex,
  ...'from import export default extends keyof is as module static get set async readonly public private protected abstract declare override accessor satisfies asserts unique'.split(
    ' ',
  ),
]);
const beforeParenthesisedRegex = new Set(['if', 'while', 'for', 'with']);
/** A word before `{` that makes it an object literal. */
const beforeObject = new Set([
  'return',
  'typeof',
  'in',
  'of',
  'new',
  'void',
  'throw',
  'case',
  'yield',
  'await',
  'default',
]);

/** Splits source into tokens in time linear in its length; never throws. An unterminated single-line quote is punctuation. */
export function lex(text: string, syntax: Syntax, options: LexOptions): Lexed {
  return new Lexer(text, syntax, options.lineBound).run();
}

class Lexer {
  readonly #text: string;
  readonly #syntax: Syntax;
  readonly #lineBound: boolean;
  readonly #tokens: Token[] = [];
  /** Per opener: the offset before which no closer was found. */
  readonly #unclosed = new Map<string, number>();
  readonly #openers: { readonly regexAfter: boolean }[] = [];
  #heredocs: PendingHeredoc[] = [];
  #regexAfterClose = false;
  #confused = false;
  #depth = 0;

  constructor(text: string, syntax: Syntax, lineBound: boolean) {
    this.#text = text;
    this.#syntax = syntax;
    this.#lineBound = lineBound;
  }

  run(): Lexed {
    const { special } = this.#syntax;
    let start = 0;
    if (special === 'php' && !this.#lineBound) start = this.#skipMarkup(0);
    else if (this.#text.startsWith('#!')) start = this.#lineEnd(0);
    this.#code(this.#lineStart(start), false, false);
    return { tokens: this.#tokens, confused: this.#confused };
  }

  /** Reads code up to the `}` that closes an interpolation, or to the end. Answers where it stopped, or -1 when the `}` is missing. */
  #code(from: number, isEmbedded: boolean, isOneLine: boolean): number {
    const text = this.#text;
    let braces = 0;
    let at = from;
    while (at < text.length && !this.#confused) {
      const char = text[at] ?? '';
      if (char === '\n') {
        if (isOneLine) return -1;
        if (this.#syntax.newlines) this.#push('newline', '\n', at, at + 1);
        at = this.#heredocs.length > 0 ? this.#heredocBodies(at + 1) : at + 1;
        at = this.#lineStart(at);
        continue;
      }
      if (char === ' ' || char === '\t' || char === '\r' || char === '\f' || char === '\v') {
        at += 1;
        continue;
      }
      if (char === '\\' && (text[at + 1] === '\n' || text[at + 1] === '\r')) {
        at += text.startsWith('\r\n', at + 1) ? 3 : 2;
        continue;
      }
      const past = this.#comment(at);
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
    const { special } = this.#syntax;
    if (special === 'php' && char === '?' && text[at + 1] === '>') return this.#skipMarkup(at + 2);
    if (special === 'ruby' || special === 'perl' || special === 'php') {
      const found = heredocsAt(text, at, special, this.#tokens.at(-1));
      if (found) {
        const token = this.#push('string', '', at, found.end);
        token.dynamic = found.heredoc.dynamic;
        this.#heredocs.push(found.heredoc);
        return found.end;
      }
      if (special !== 'php') {
        const quoted = quoteLikeAt(text, at, special, this.#tokens.at(-1));
        if (quoted) {
          const token = this.#push(quoted.kind, quoted.text, at, quoted.end);
          token.dynamic = quoted.dynamic;
          return quoted.end;
        }
      }
    }
    if (special === 'rust' && char === "'") return this.#rustQuote(at);
    if (this.#isPunctuationVariable(at, char)) {
      this.#push('word', text.slice(at, at + 2), at, at + 2);
      return at + 2;
    }
    for (const form of this.#syntax.strings) {
      if (!text.startsWith(form.open, at) || !this.#stringMayStart(form)) continue;
      const end = this.#string(at, form);
      if (end !== undefined) return end;
      if (this.#confused) return text.length;
      break;
    }
    if (this.#syntax.regex && char === '/' && this.#regexMayStart(at)) {
      const end = (this.#unclosed.get('/') ?? -1) > at ? undefined : regexEnd(text, at);
      if (end !== undefined) {
        this.#push('regex', text.slice(at, Math.min(end, at + maxText)), at, end);
        return end;
      }
      this.#unclosed.set('/', this.#lineEnd(at));
    }
    if (this.#isWordAt(at) || (special === 'javascript' && text.startsWith('\\u', at))) return this.#word(at);
    const long = mayPair.test(text[at + 1] ?? '')
      ? punctuation.find((one) => text.startsWith(one, at))
      : undefined;
    const mark = long ?? char;
    this.#bracket(mark);
    this.#push('punct', mark, at, at + mark.length);
    return at + mark.length;
  }

  #word(at: number): number {
    const text = this.#text;
    let end = at;
    let escaped = false;
    while (end < text.length) {
      if (this.#isWordAt(end)) end += 1;
      else if (this.#syntax.special === 'javascript' && text[end] === '\\' && text[end + 1] === 'u') {
        escaped = true;
        end += 2;
        if (text[end] === '{')
          while (end < text.length && end - at < maxText && text[end - 1] !== '}') end += 1;
      } else break;
    }
    const raw = text.slice(at, end);
    if (/^\d/.test(raw)) {
      this.#push('number', raw.slice(0, maxText), at, end);
      return end;
    }
    const next = text[end];
    if (this.#syntax.special === 'python' && (next === '"' || next === "'") && /^[rbuft]{1,2}$/i.test(raw)) {
      const form = this.#syntax.strings.find((one) => text.startsWith(one.open, end));
      const past = form && this.#string(end, pythonForm(raw, form));
      if (past !== undefined) return past;
      if (this.#confused) return text.length;
    }
    this.#push('word', escaped ? unescapeWord(raw) : raw.slice(0, maxText), at, end);
    if (
      this.#tokens.length > 1 &&
      (raw === '__END__' || raw === '__DATA__') &&
      this.#isAloneOnLine(at, end)
    ) {
      if (this.#syntax.special === 'ruby' || this.#syntax.special === 'perl') return text.length;
    }
    return end;
  }

  /** Reads a string and the code in it; `undefined` where it is not closed as its form demands. */
  #string(at: number, form: StringForm): number | undefined {
    const text = this.#text;
    const oneLine = this.#lineBound || !form.multiline;
    if (oneLine && (this.#unclosed.get(form.open) ?? -1) > at) return undefined;
    const mark = this.#tokens.length;
    const token = this.#push(form.kind ?? 'string', '', at, at);
    const bodyStart = at + form.open.length;
    let from = bodyStart;
    const fail = (end: number): undefined => {
      this.#tokens.length = mark;
      this.#unclosed.set(form.open, end);
      if (!oneLine) this.#confused = true;
      return undefined;
    };
    while (from < text.length) {
      const char = text[from] ?? '';
      if (oneLine && char === '\n') return fail(from);
      if (form.escape === 'backslash' && char === '\\') {
        from += text.startsWith('\r\n', from + 1) ? 3 : 2;
        continue;
      }
      if (text.startsWith(form.close, from)) {
        if (form.escape === 'double' && text.startsWith(form.close, from + 1)) {
          from += 2;
          continue;
        }
        const end = from + form.close.length;
        this.#tokens[mark] = {
          ...token,
          text: text.slice(bodyStart, Math.min(from, bodyStart + maxText)),
          end,
        };
        this.#regexAfterClose = false;
        return end;
      }
      const opener = form.code?.find((one) => text.startsWith(one, from));
      if (opener === '{' && text[from + 1] === '{') {
        from += 2;
        continue;
      }
      if (opener !== undefined) {
        token.dynamic = true;
        const past = this.#embedded(from, opener, oneLine);
        if (past === undefined) return fail(this.#lineEnd(from));
        from = past;
        continue;
      }
      from += 1;
    }
    return fail(text.length);
  }

  /** Reads the code of one interpolation, set in braces among the tokens. */
  #embedded(at: number, opener: string, isOneLine: boolean): number | undefined {
    if (this.#depth >= maxNesting) {
      this.#confused = true;
      return undefined;
    }
    const codeStart = opener === '{$' ? at + 1 : at + opener.length;
    this.#push('punct', '{', at, at + opener.length);
    this.#openers.push({ regexAfter: false });
    this.#depth += 1;
    const close = this.#code(codeStart, true, isOneLine);
    this.#depth -= 1;
    this.#openers.pop();
    if (close === -1) return undefined;
    this.#push('punct', '}', close, close + 1);
    return close + 1;
  }

  /** Past the comment that starts here; `undefined` where none does. */
  #comment(at: number): number | undefined {
    const { lineComments, blockComments, special } = this.#syntax;
    const text = this.#text;
    for (const open of lineComments) {
      if (!text.startsWith(open, at)) continue;
      if (special === 'php' && open === '#' && text[at + 1] === '[') continue;
      // A URL in the text of markup.
      if (special === 'javascript' && text[at - 1] === ':' && /\w/.test(text[at - 2] ?? ' ')) continue;
      return this.#commentLineEnd(at);
    }
    for (const { open, close, nests } of blockComments) {
      if (!text.startsWith(open, at)) continue;
      if (this.#lineBound && (this.#unclosed.get(open) ?? -1) > at) continue;
      const limit = this.#lineBound ? this.#lineEnd(at) : text.length;
      let depth = 1;
      let from = at + open.length;
      while (depth > 0 && from < limit) {
        if (text.startsWith(close, from)) {
          depth -= 1;
          from += close.length;
        } else if (nests && text.startsWith(open, from)) {
          depth += 1;
          from += open.length;
        } else from += 1;
      }
      if (depth === 0) return from;
      this.#unclosed.set(open, limit);
      if (!this.#lineBound) {
        this.#confused = true;
        return text.length;
      }
    }
    return undefined;
  }

  /** A line comment ends where the language's own reader ends it: CR and U+2028 are line ends too, `?>` leaves PHP. */
  #commentLineEnd(at: number): number {
    const text = this.#text;
    const isPhp = this.#syntax.special === 'php';
    for (let end = at; end < text.length; end += 1) {
      const char = text[end];
      if (char === '\n' || char === '\r') return end;
      if (isPhp && char === '?' && text[end + 1] === '>') return end;
      if (
        char === '\u00e2' &&
        text[end + 1] === '\u0080' &&
        (text[end + 2] === '\u00a8' || text[end + 2] === '\u00a9')
      )
        return end + 3;
    }
    return text.length;
  }

  /** Skips what only counts at the start of a line: Ruby's `=begin`, Perl's POD. */
  #lineStart(at: number): number {
    const { special } = this.#syntax;
    if ((special !== 'ruby' && special !== 'perl') || this.#text[at] !== '=' || this.#lineBound) return at;
    const close = special === 'ruby' ? '\n=end' : '\n=cut';
    const opens =
      special === 'ruby'
        ? this.#text.startsWith('=begin', at)
        : /^=[a-z]/i.test(this.#text.slice(at, at + 2));
    if (!opens) return at;
    const end = this.#text.indexOf(close, at);
    if (end === -1) return this.#text.length;
    return this.#lineEnd(end + 1);
  }

  /** Reads the bodies of the heredocs that the line before announced. */
  #heredocBodies(from: number): number {
    let at = from;
    for (const { terminator, indented, dynamic } of this.#heredocs.splice(0)) {
      for (;;) {
        if (at >= this.#text.length) {
          if (!this.#lineBound) this.#confused = true;
          return at;
        }
        const end = this.#lineEnd(at);
        const line = this.#text.slice(at, end).replace(/\r$/, '');
        const ended = (indented ? line.replace(/^[ \t]+/, '') : line).replace(/[;,)\]]+$/, '') === terminator;
        if (!ended && dynamic) this.#heredocLine(at, end);
        at = end + 1;
        if (ended) break;
      }
    }
    return at;
  }

  #heredocLine(start: number, end: number): void {
    const opener = this.#syntax.special === 'ruby' ? '#{' : '{$';
    for (let at = start; at < end; at += 1) {
      if (!this.#text.startsWith(opener, at)) continue;
      const past = this.#embedded(at, opener, true);
      if (past === undefined) return;
      at = past - 1;
    }
  }

  #skipMarkup(at: number): number {
    const open = this.#text.indexOf('<?', at);
    if (open === -1) return this.#text.length;
    this.#push('punct', ';', open, open + 2);
    return (
      open + (/^<\?php/i.test(this.#text.slice(open, open + 5)) ? 5 : this.#text[open + 2] === '=' ? 3 : 2)
    );
  }

  /** `'x'` is a character, `'a` a lifetime. */
  #rustQuote(at: number): number {
    const text = this.#text;
    const end =
      text[at + 1] === '\\' ? text.indexOf("'", at + 3) + 1 : text[at + 2] === "'" ? at + 3 : at + 1;
    return end > at && end - at < 16 ? end : at + 1;
  }

  #regexMayStart(at: number): boolean {
    const previous = this.#tokens.at(-1);
    if (!previous || previous.kind === 'newline') return true;
    if (previous.kind === 'word') {
      if (beforeRegex.has(previous.text)) return true;
      const isCommandCall =
        this.#syntax.special === 'ruby' && previous.end < at && !/[\s=]/.test(this.#text[at + 1] ?? ' ');
      return isCommandCall;
    }
    if (previous.kind !== 'punct') return false;
    if (
      this.#syntax.special === 'javascript' &&
      (/[<>]$/.test(previous.text) || this.#text[at + 1] === '>')
    ) {
      // Markup: `</p>` and `/>`; comparing with a regular expression makes no sense.
      return previous.text === '=>';
    }
    if (previous.text === ')' || previous.text === '}') return this.#regexAfterClose;
    return previous.text !== ']' && previous.text !== '++' && previous.text !== '--';
  }

  /** In JavaScript a quote after a value is text of markup (`it's`), where braces hold code. */
  #stringMayStart(form: StringForm): boolean {
    if (this.#syntax.special !== 'javascript' || form.code) return true;
    const previous = this.#tokens.at(-1);
    if (!previous) return true;
    if (previous.kind === 'word') return beforeString.has(previous.text);
    return previous.kind === 'punct' && ![')', ']', '}', '>'].includes(previous.text);
  }

  /** Perl's and Ruby's `$'`, `$"`, `$#x`, and Ruby's `?"`: the second character opens nothing. */
  #isPunctuationVariable(at: number, char: string): boolean {
    const { special } = this.#syntax;
    const next = this.#text[at + 1] ?? ' ';
    if (char === '$' && (special === 'perl' || special === 'ruby')) return /["'`#/\\;!&,.]/.test(next);
    return (
      char === '?' &&
      special === 'ruby' &&
      /["'`#/]/.test(next) &&
      !/\w/.test(this.#text[at - 1] ?? ' ') &&
      !/\S/.test(this.#text[at + 2] ?? ' ')
    );
  }

  #bracket(mark: string): void {
    if (mark === '(' || mark === '[' || mark === '{')
      this.#openers.push({ regexAfter: this.#regexAfter(mark) });
    else if (mark === ')' || mark === ']' || mark === '}')
      this.#regexAfterClose = this.#openers.pop()?.regexAfter ?? false;
  }

  /** Whether a `/` right after the bracket that closes this one starts a regular expression. */
  #regexAfter(mark: string): boolean {
    const previous = this.#tokens.at(-1);
    if (mark === '(') return previous?.kind === 'word' && beforeParenthesisedRegex.has(previous.text);
    if (mark !== '{') return false;
    if (!previous) return true;
    if (previous.kind === 'word') return !beforeObject.has(previous.text);
    return previous.kind !== 'punct' || [')', ';', '{', '}', '=>', ':'].includes(previous.text);
  }

  #isWordAt(at: number): boolean {
    const char = this.#text[at];
    if (char === undefined) return false;
    const code = char.charCodeAt(0);
    if (
      (code >= 48 && code <= 57) ||
      (code >= 65 && code <= 90) ||
      (code >= 97 && code <= 122) ||
      code === 95
    )
      return true;
    // Bytes of multi-byte characters: U+2028 and U+2029 end a line, the rest may name things.
    if (code >= 128) return wordChar.test(char) || code < 0xa0 || code >= 0xc2;
    if (this.#syntax.special === 'javascript' && char === '\\') return false;
    return this.#syntax.wordExtra.includes(char) && !this.#isOperator(char, at);
  }

  /** `?` and `!` end a Ruby word; `%`, `@`, `$` start a variable; elsewhere they are operators. */
  #isOperator(char: string, at: number): boolean {
    const before = this.#text[at - 1] ?? ' ';
    const after = this.#text[at + 1] ?? ' ';
    if (char === '?' || char === '!') return !/\w/.test(before) || after === '=' || /\w/.test(after);
    if (char === '%') return !/[A-Za-z_]/.test(after) || /[\w)\]}]/.test(before);
    return false;
  }

  #isAloneOnLine(start: number, end: number): boolean {
    const before = this.#text[start - 1];
    const after = this.#text[end];
    return (
      (before === undefined || before === '\n') && (after === undefined || after === '\n' || after === '\r')
    );
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf('\n', at);
    return end === -1 ? this.#text.length : end;
  }

  #push(kind: TokenKind, text: string, start: number, end: number): Token {
    const token: Token = { kind, text, start, end };
    this.#tokens.push(token);
    return token;
  }
}

/** Past the closing slash and flags; `undefined` where the line ends first (then it was a division). */
function regexEnd(text: string, at: number): number | undefined {
  let isClass = false;
  for (let end = at + 1; end < text.length; end += 1) {
    const char = text[end];
    if (char === '\n') return undefined;
    if (char === '\\') end += 1;
    else if (char === '[') isClass = true;
    else if (char === ']') isClass = false;
    else if (char === '/' && !isClass) {
      let past = end + 1;
      while (/[a-z]/i.test(text[past] ?? '')) past += 1;
      return past;
    }
  }
  return undefined;
}

function unescapeWord(raw: string): string {
  return raw
    .slice(0, 4 * maxText)
    .replace(
      /\\u(?:\{0*([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g,
      (all, braced: string | undefined, four: string | undefined) => {
        const code = Number.parseInt(braced ?? four ?? '', 16);
        return code <= 0x10ffff ? String.fromCodePoint(code) : all;
      },
    );
}
