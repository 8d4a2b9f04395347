import type { StringForm, Syntax } from './syntax.ts';
import type { Token } from './token.ts';

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

/**
 * Tells a division from the start of a regular expression, and a quote in code from one in markup, by what stands
 * before.
 */
export class SlashContext {
  readonly #text: string;
  readonly #syntax: Syntax;
  /** Per open bracket: whether a `/` right after its closer starts a regular expression. */
  readonly #openers: boolean[] = [];
  #afterClose = false;

  constructor(text: string, syntax: Syntax) {
    this.#text = text;
    this.#syntax = syntax;
  }

  /** Takes note of a bracket; other marks are ignored. */
  bracket(mark: string, previous: Token | undefined): void {
    if (mark === '(' || mark === '[' || mark === '{') this.#openers.push(regexAfter(mark, previous));
    else if (mark === ')' || mark === ']' || mark === '}') this.#afterClose = this.#openers.pop() ?? false;
  }

  /** Code inside a string starts. */
  open(): void {
    this.#openers.push(false);
  }

  /** Code inside a string ends. */
  close(): void {
    this.#openers.pop();
  }

  regexMayStart(at: number, previous: Token | undefined): boolean {
    const { special } = this.#syntax;
    const next = this.#text[at + 1] ?? ' ';
    if (!previous || previous.kind === 'newline') return true;
    if (previous.kind === 'word') {
      return (
        beforeRegex.has(previous.text) || (special === 'ruby' && previous.end < at && !/[\s=]/.test(next))
      );
    }
    if (previous.kind !== 'punct') return false;
    // Markup: `</p>` and `/>`; comparing with a regular expression makes no sense.
    if (special === 'javascript' && (/[<>]$/.test(previous.text) || next === '>'))
      return previous.text === '=>';
    if (previous.text === ')' || previous.text === '}') return this.#afterClose;
    return previous.text !== ']' && previous.text !== '++' && previous.text !== '--';
  }

  /** In JavaScript a quote after a value is text of markup (`it's`), where braces hold code. */
  stringMayStart(form: StringForm, previous: Token | undefined): boolean {
    if (this.#syntax.special !== 'javascript' || form.code || !previous) return true;
    if (previous.kind === 'word') return beforeString.has(previous.text);
    return previous.kind === 'punct' && ![')', ']', '}', '>'].includes(previous.text);
  }
}

function regexAfter(mark: string, previous: Token | undefined): boolean {
  if (mark === '(') return previous?.kind === 'word' && beforeParenthesisedRegex.has(previous.text);
  if (mark !== '{') return false;
  if (previous?.kind === 'word') return !beforeObject.has(previous.text);
  return previous?.kind !== 'punct' || [')', ';', '{', '}', '=>', ':'].includes(previous.text);
}

/** Past the closing slash and flags; `undefined` where the line ends first (then it was a division). */
export function regexEnd(text: string, at: number): number | undefined {
  let isClass = false;
  for (let end = at + 1; end < text.length && text[end] !== '\n'; end += 1) {
    const char = text[end];
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
