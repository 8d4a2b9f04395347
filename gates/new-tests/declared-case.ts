import type { Token } from '../../readers/source/tokens/token.ts';
import type { TokenView } from '../direct-eval/token-view.ts';

/** A test case as it is declared, skipped or not. Numbers are of tokens. */
export interface DeclaredCase {
  readonly at: number;
  /** Empty text where the language names none, or the name is worked out when it runs. */
  readonly name: Token;
  /** The bracket that opens the body; absent where none is seen. */
  readonly body?: number | undefined;
  /** Marked to be left out, by itself or with what it stands in. */
  readonly isSkipped: boolean;
}

/** The case declared at a token, if any. */
export type CaseFinder = (view: TokenView, index: number) => DeclaredCase | undefined;

/** The same token without its text: no name that two versions could share. */
export function unnamed(token: Token): Token {
  return { ...token, text: '' };
}

/** Brackets around a token, innermost first. */
export function* bracketsAround(view: TokenView, index: number): Generator<number> {
  for (let open = view.openerOf(index), depth = 0; open >= 0 && depth < 200; depth += 1) {
    yield open;
    open = view.openerOf(open);
  }
}

/** `if (false) {`, `if 0 {`, `while (false) {` around a token. */
export function isDead(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    if (!view.isPunct(open, '{')) continue;
    let at = view.previous(open);
    const isGrouped = view.isPunct(at, ')');
    if (isGrouped) at -= 1;
    const isNever =
      view.isWord(at, 'false') ||
      view.text(at) === '0' ||
      (view.text(at) === '1' && view.isPunct(at - 1, '!'));
    if (isNever && view.isPunct(at - 1, '!')) at -= 1;
    const before = isGrouped ? at - 2 : at - 1;
    if (isNever && (!isGrouped || view.isPunct(at - 1, '(')) && view.isWord(before, 'if', 'while', 'elsif'))
      return true;
  }
  return false;
}

/** The first tokens of a body, with a space between; empty for a body that is. */
export function beginningOf(view: TokenView, body: number, count = 14): string {
  const said: string[] = [];
  const close = view.closeOf(body);
  for (let at = body + 1; at < close && said.length < count; at += 1)
    if (view.at(at).kind !== 'newline') said.push(view.at(at).kind === 'string' ? '""' : view.text(at));
  return said.join(' ');
}

/** A question about all of a file, asked once for each. */
export function oncePerFile<T>(answer: (view: TokenView) => T): (view: TokenView) => T {
  const known = new WeakMap<TokenView, { readonly answer: T }>();
  return (view) => {
    const found = known.get(view) ?? { answer: answer(view) };
    known.set(view, found);
    return found.answer;
  };
}
