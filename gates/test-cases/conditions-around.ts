import type { Language } from '../../readers/source/language.ts';
import { conditionOf, holdsHere } from './elsewhere.ts';
import { isOutline, type Shape } from './layout.ts';

/** What stands around a declared case, so that it may not be declared. */
export interface Conditions {
  readonly skips: number;
  /** Those that hold where checks are executed. */
  readonly elsewhere: number;
}

const maxDepth = 60;
const conditional =
  /(?:^|[^\w.$#@])(?:if|else|elsif|unless|while|switch|case|catch)\b|&&|\|\||\s\?\s|\.(?:then|catch|finally|on|once|addEventListener)\s*$|^\s*(?:setTimeout|setImmediate|setInterval|queueMicrotask)\s*$/;
const lines: Readonly<Partial<Record<Language, RegExp>>> = {
  python: /^\s*(?:if|elif|else|while|except)\b/,
  ruby: /^\s*(?:if|elsif|else|unless|while|until|case|when|rescue|private)\b/,
  elixir: /^\s*(?:if|unless|case|cond|else)\b/,
  shell: /^\s*(?:if|elif|else|while|until|case)\b|<<-?\s*\\?["'\w]/,
};

/** Conditions around the case that begins at `start`; read from code, their words from the text. */
export function conditionsAround(
  code: string,
  text: string,
  start: number,
  language: Language,
  shape: Shape,
): Conditions {
  const found: string[] = [];
  const add = (from: number, to: number, form: RegExp): void => {
    const first = Math.max(from, to - 300);
    if (form.test(code.slice(first, to))) found.push(text.slice(first, to));
  };
  if (isOutline(shape)) {
    add(shape.startOf(start), start, conditional);
    let bracket = shape.brackets[shape.around(start)];
    for (let depth = 0; bracket && depth < maxDepth; depth += 1) {
      add(bracket.start, bracket.open, conditional);
      bracket = shape.brackets[bracket.parent];
    }
  } else
    for (const line of shape.above(start)) {
      const end = code.indexOf('\n', line);
      add(line, end === -1 ? code.length : end, lines[language] ?? /^\b$/);
    }
  const elsewhere = found.filter((one) =>
    holdsHere(conditionOf(one.replace(/(?::|\bthen|\bdo)\s*$/, '')) ?? ''),
  ).length;
  return { skips: found.length - elsewhere, elsewhere };
}
