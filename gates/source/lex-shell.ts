import { appendTo, type DraftWord, newWord, type ShellWord } from './shell-word.ts';

export interface LexedShell {
  readonly words: readonly ShellWord[];
  readonly confused: boolean;
}

interface Heredoc {
  readonly terminator: string;
  readonly stripTabs: boolean;
  readonly dynamic: boolean;
}

const maxNesting = 50;
const maxText = 200;
const keywords = new Set([
  'then',
  'do',
  'else',
  'elif',
  'if',
  'while',
  'until',
  '!',
  'time',
  '{',
  '(',
  'coproc',
]);
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

/**
 * Words of a shell script in order, those of command substitutions included, wherever they stand. Comments, here-document text and
 * quoted text are no commands. With `lineBound`, quotes end with their line.
 */
export function lexShell(text: string, lineBound: boolean): LexedShell {
  return new ShellLexer(text, lineBound).run();
}

class ShellLexer {
  readonly #text: string;
  readonly #lineBound: boolean;
  readonly #words: DraftWord[] = [];
  #heredocs: Heredoc[] = [];
  /** Open `((`: there `<<` shifts. */
  #arithmetic = 0;
  #confused = false;

  constructor(text: string, lineBound: boolean) {
    this.#text = text;
    this.#lineBound = lineBound;
  }

  run(): LexedShell {
    let at = 0;
    while (at < this.#text.length && !this.#confused) at = this.#commands(at, '', 0) + 1;
    return { words: this.#words, confused: this.#confused };
  }

  /** Reads commands up to `closer` (`)` or a backtick); answers its offset, or the length of the text. */
  #commands(from: number, closer: string, depth: number): number {
    const text = this.#text;
    let expectsCommand = true;
    let afterPipe = false;
    let last: DraftWord | undefined;
    let at = from;
    const separate = (pipe: boolean): void => {
      expectsCommand = true;
      afterPipe = pipe;
      last = undefined;
    };
    while (at < text.length && !this.#confused) {
      const char = text[at] ?? '';
      if (char === closer) {
        if (text.startsWith('))', at) && this.#arithmetic > 0) this.#arithmetic -= 1;
        return at;
      }
      if (char === '\n') {
        separate(afterPipe && expectsCommand);
        at = this.#heredocs.length > 0 ? this.#heredocBodies(at + 1, depth) : at + 1;
      } else if (char === ' ' || char === '\t' || char === '\r') at += 1;
      else if (char === '\\' && text[at + 1] === '\n') at += 2;
      else if (char === '#') at = this.#lineEnd(at);
      else if (char === '|' && text[at + 1] === '|') {
        separate(false);
        at += 2;
      } else if (char === '|') {
        separate(true);
        at += text[at + 1] === '&' ? 2 : 1;
      } else if (
        ';&(){}'.includes(char) &&
        !(char === '{' && /\S/.test(text[at + 1] ?? ' ')) &&
        !(char === '}' && last)
      ) {
        separate(false);
        if (text.startsWith('((', at)) this.#arithmetic += 1;
        if (text.startsWith('))', at) && this.#arithmetic > 0) this.#arithmetic -= 1;
        at += 1;
      } else if (char === '<' || char === '>') at = this.#redirection(at, depth);
      else {
        const isFileNumber = /^\d+[<>]/.test(text.slice(at, at + 4));
        if (isFileNumber) {
          while (/\d/.test(text[at] ?? '')) at += 1;
          continue;
        }
        const word: DraftWord = newWord(at, afterPipe);
        // The word stands before those of the substitutions inside it.
        this.#words.push(word);
        at = this.#word(at, word, closer, depth);
        if (at === word.start) at += 1;
        if (last) last.hasNext = true;
        if (expectsCommand && assignment.test(text.slice(word.start, word.start + maxText))) continue;
        word.isCommand = expectsCommand;
        const raw = text.slice(word.start, at);
        if (expectsCommand && keywords.has(raw)) continue;
        expectsCommand = false;
        last = word;
      }
    }
    if (closer !== '' && !this.#lineBound) this.#confused = true;
    return text.length;
  }

  #word(from: number, word: DraftWord, closer: string, depth: number): number {
    const text = this.#text;
    let at = from;
    while (at < text.length && !this.#confused) {
      const char = text[at] ?? '';
      if (char === closer || /[\s;&|<>()]/.test(char)) break;
      if (char === '\\') {
        if (text[at + 1] !== '\n') appendTo(word, text[at + 1] ?? '');
        at += 2;
      } else if (char === "'") at = this.#quoted(at, word, "'", depth);
      else if (char === '"') at = this.#quoted(at, word, '"', depth);
      else if (char === '$' && text[at + 1] === "'") at = this.#quoted(at + 1, word, "$'", depth);
      else if (char === '$' || char === '`') at = this.#expansion(at, word, depth);
      else {
        appendTo(word, char);
        at += 1;
      }
    }
    return at;
  }

  /** Reads a quoted part; an unclosed one is a plain character in line-bound text. */
  #quoted(at: number, word: DraftWord, form: "'" | '"' | "$'", depth: number): number {
    const text = this.#text;
    const quote = form === '"' ? '"' : "'";
    let from = at + 1;
    while (from < text.length && !this.#confused) {
      const char = text[from] ?? '';
      if (char === quote) return from + 1;
      if (char === '\n' && this.#lineBound) return at + 1;
      if (form !== "'" && char === '\\') {
        appendTo(word, text[from + 1] ?? '');
        from += 2;
      } else if (form === '"' && (char === '$' || char === '`')) from = this.#expansion(from, word, depth);
      else {
        appendTo(word, char);
        from += 1;
      }
    }
    if (!this.#lineBound) this.#confused = true;
    return text.length;
  }

  /** `$name`, `${…}`, `$(…)`, `$((…))` or backticks. */
  #expansion(at: number, word: DraftWord, depth: number): number {
    const text = this.#text;
    if (depth >= maxNesting) {
      word.isDynamic = true;
      if (!this.#lineBound) this.#confused = true;
      return at + 1;
    }
    if (text[at] === '`') {
      word.isDynamic = true;
      return this.#commands(at + 1, '`', depth + 1) + 1;
    }
    const next = text[at + 1] ?? '';
    if (next === '(') {
      word.isDynamic = true;
      if (text[at + 2] === '(') this.#arithmetic += 1;
      return this.#commands(at + 2, ')', depth + 1) + 1;
    }
    if (next === '{') {
      word.isDynamic = true;
      return this.#parameter(at + 2, word, depth + 1);
    }
    if (!/[\w@*#?$!-]/.test(next)) {
      appendTo(word, '$');
      return at + 1;
    }
    word.isDynamic = true;
    let end = at + 2;
    if (/[A-Za-z_]/.test(next)) while (/\w/.test(text[end] ?? '')) end += 1;
    return end;
  }

  /** The inside of `${…}`; substitutions in it are commands. */
  #parameter(from: number, word: DraftWord, depth: number): number {
    const text = this.#text;
    for (let at = from; at < text.length && !this.#confused; ) {
      const char = text[at];
      if (char === '}') return at + 1;
      if (char === '\n' && this.#lineBound) return at;
      if (char === '\\') at += 2;
      else if (char === '$' || char === '`') at = this.#expansion(at, word, depth);
      else if (char === '"') at = this.#quoted(at, word, '"', depth);
      else at += 1;
    }
    if (!this.#lineBound) this.#confused = true;
    return text.length;
  }

  #redirection(at: number, depth: number): number {
    const text = this.#text;
    if (text[at + 1] === '(') {
      // `<(…)`: a word of its own, so that `source <(…)` is seen.
      this.#words.push({ ...newWord(at), text: '<(', isDynamic: true });
      return this.#commands(at + 2, ')', depth + 1) + 1;
    }
    if (text.startsWith('<<<', at)) return at + 3;
    if (!text.startsWith('<<', at)) return at + 1;
    // Line-bound text keeps here-documents as code: their beginning may be a misreading.
    if (this.#arithmetic > 0 || this.#lineBound) return at + 2;
    const stripTabs = text[at + 2] === '-';
    let from = at + (stripTabs ? 3 : 2);
    while (text[from] === ' ') from += 1;
    const probe: DraftWord = newWord(from);
    const end = this.#word(from, probe, '', depth);
    if (end > from)
      this.#heredocs.push({
        terminator: probe.text,
        stripTabs,
        dynamic: !/["'\\]/.test(text.slice(from, end)),
      });
    return Math.max(end, from);
  }

  /** Skips here-document text; where the mark was not quoted, its substitutions are commands. */
  #heredocBodies(from: number, depth: number): number {
    const text = this.#text;
    let at = from;
    for (const { terminator, stripTabs, dynamic } of this.#heredocs.splice(0)) {
      for (;;) {
        if (at >= text.length) {
          if (!this.#lineBound) this.#confused = true;
          return at;
        }
        const end = this.#lineEnd(at);
        const line = text.slice(at, end).replace(/\r$/, '');
        if ((stripTabs ? line.replace(/^\t+/, '') : line) === terminator) {
          at = end + 1;
          break;
        }
        if (dynamic) this.#heredocLine(at, end, depth);
        at = end + 1;
      }
    }
    return at;
  }

  #heredocLine(start: number, end: number, depth: number): void {
    const sink: DraftWord = newWord(start);
    for (let at = start; at < end && !this.#confused; ) {
      const char = this.#text[at];
      if (char === '\\') at += 2;
      else if (char === '`' || (char === '$' && this.#text[at + 1] === '('))
        at = this.#expansion(at, sink, depth);
      else at += 1;
    }
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf('\n', at);
    return end === -1 ? this.#text.length : end;
  }
}
