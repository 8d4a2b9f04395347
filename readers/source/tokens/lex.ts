import {
  blockCommentEnd,
  documentationEnd,
  endsCode,
  isPunctuationVariable,
  isWordAt,
  lineCommentEnd,
  markAt,
  rustQuoteEnd,
  startsLineComment,
  unescapeWord,
} from './characters.ts';
import { heredocAt, heredocBody, type PendingHeredoc } from './heredoc.ts';
import { quoteLikeAt } from './quote-like.ts';
import { regexEnd, SlashContext } from './slash-context.ts';
import { pythonForm, type StringForm, type Syntax } from './syntax.ts';
import type { Lexed, Token, TokenKind } from './token.ts';

const maxNesting = 100;
const maxText = 200;
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
  readonly #slash: SlashContext;
  #heredocs: PendingHeredoc[] = [];
  #confused = false;
  #depth = 0;
  /** The part of a line whose end is known, so that no token of a long line searches for it again. */
  #line = { from: 0, end: -1 };

  constructor(text: string, syntax: Syntax, lineBound: boolean) {
    this.#text = text;
    this.#syntax = syntax;
    this.#lineBound = lineBound;
    this.#slash = new SlashContext(text, syntax);
  }

  run(): Lexed {
    const { special } = this.#syntax;
    let start = 0;
    if (special === 'php' && !this.#lineBound) start = this.#skipMarkup(0);
    else if (this.#text.startsWith('#!')) start = this.#lineEnd(0);
    this.#code(this.#lineStart(start), false, false);
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
        at = this.#heredocs.length > 0 ? this.#heredocBodies(at + 1) : at + 1;
        at = this.#lineStart(at);
        continue;
      }
      if (char === ' ' || /[\t\r\f\v]/.test(char)) {
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
    // Line-bound text keeps whatever spans lines as code: its beginning may be a misreading.
    if (special === 'php' && !this.#lineBound && char === '?' && text[at + 1] === '>')
      return this.#skipMarkup(at + 2);
    const past = this.#quoteLike(at);
    if (past !== undefined) return past;
    if (special === 'rust' && char === "'") return rustQuoteEnd(text, at);
    if (isPunctuationVariable(text, at, this.#syntax)) {
      this.#push('word', text.slice(at, at + 2), at, at + 2);
      return at + 2;
    }
    for (const form of this.#syntax.strings) {
      if (!text.startsWith(form.open, at) || !this.#slash.stringMayStart(form, this.#tokens.at(-1))) continue;
      const end = this.#string(at, form);
      if (end !== undefined) return end;
      if (this.#confused) return text.length;
      break;
    }
    if (this.#syntax.regex && char === '/' && this.#slash.regexMayStart(at, this.#tokens.at(-1))) {
      const end = (this.#unclosed.get('/') ?? -1) > at ? undefined : regexEnd(text, at);
      if (end !== undefined) {
        this.#push('regex', text.slice(at, Math.min(end, at + maxText)), at, end);
        return end;
      }
      this.#unclosed.set('/', this.#lineEnd(at));
    }
    if (isWordAt(text, at, this.#syntax) || (special === 'javascript' && text.startsWith('\\u', at)))
      return this.#word(at);
    const mark = markAt(text, at);
    this.#slash.bracket(mark, this.#tokens.at(-1));
    this.#push('punct', mark, at, at + mark.length);
    return at + mark.length;
  }

  /** Heredocs, and quotes that are written as operators. */
  #quoteLike(at: number): number | undefined {
    const { special } = this.#syntax;
    if (special !== 'ruby' && special !== 'perl' && special !== 'php') return undefined;
    const previous = this.#tokens.at(-1);
    const found = this.#lineBound ? undefined : heredocAt(this.#text, at, special, previous);
    if (found) {
      this.#push('string', '', at, found.end).dynamic = found.heredoc.dynamic;
      this.#heredocs.push(found.heredoc);
      return found.end;
    }
    const quoted = special === 'php' ? undefined : quoteLikeAt(this.#text, at, special, previous);
    if (!quoted || (this.#lineBound && quoted.end > this.#lineEnd(at))) return undefined;
    this.#push(quoted.kind, quoted.text, at, quoted.end).dynamic = quoted.dynamic;
    return quoted.end;
  }

  #word(at: number): number {
    const text = this.#text;
    let end = at;
    let escaped = false;
    while (end < text.length) {
      if (isWordAt(text, end, this.#syntax)) end += 1;
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
    if (!this.#lineBound && endsCode(text, at, end, this.#syntax)) return text.length;
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
    this.#slash.open();
    this.#depth += 1;
    const close = this.#code(codeStart, true, isOneLine);
    this.#depth -= 1;
    this.#slash.close();
    if (close === -1) return undefined;
    this.#push('punct', '}', close, close + 1);
    return close + 1;
  }

  /** Past the comment that starts here; `undefined` where none does. */
  #comment(at: number): number | undefined {
    const text = this.#text;
    const { blockComments } = this.#syntax;
    if (startsLineComment(text, at, this.#syntax)) return lineCommentEnd(text, at, this.#syntax);
    for (const form of blockComments) {
      if (!text.startsWith(form.open, at)) continue;
      if (this.#lineBound && (this.#unclosed.get(form.open) ?? -1) > at) continue;
      const limit = this.#lineBound ? this.#lineEnd(at) : text.length;
      const end = blockCommentEnd(text, at, form, limit);
      if (end !== undefined) return end;
      this.#unclosed.set(form.open, limit);
      if (!this.#lineBound) {
        this.#confused = true;
        return text.length;
      }
    }
    return undefined;
  }

  #lineStart(at: number): number {
    return this.#lineBound ? at : documentationEnd(this.#text, at, this.#syntax);
  }

  /** Reads the bodies of the heredocs that the line before announced. */
  #heredocBodies(from: number): number {
    let at = from;
    for (const heredoc of this.#heredocs.splice(0)) {
      const body = heredocBody(this.#text, at, heredoc);
      if (heredoc.dynamic) for (const { start, end } of body.lines) this.#heredocLine(start, end);
      if (!body.isClosed) this.#confused = true;
      at = body.end;
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
    const tag = /^<\?(?:php|=)?/i.exec(this.#text.slice(open, open + 5));
    return open + (tag?.[0].length ?? 2);
  }

  #lineEnd(at: number): number {
    if (at >= this.#line.from && at <= this.#line.end) return this.#line.end;
    const end = this.#text.indexOf('\n', at);
    this.#line = { from: at, end: end === -1 ? this.#text.length : end };
    return this.#line.end;
  }

  #push(kind: TokenKind, text: string, start: number, end: number): Token {
    const token: Token = { kind, text, start, end };
    this.#tokens.push(token);
    return token;
  }
}
