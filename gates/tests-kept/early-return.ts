import type { TestCase } from '../new-tests/test-cases.ts';
import type { Language } from '../source/language.ts';

const withBraces: ReadonlySet<Language> = new Set([
  ...([
    'javascript',
    'java',
    'kotlin',
    'scala',
    'go',
    'csharp',
    'rust',
    'c',
    'swift',
    'php',
    'perl',
  ] as const),
]);

/**
 * Where a case leaves itself always, by a `return` without a value that stands in its body and on no condition; `undefined` where it does
 * not. What stands behind it is never run.
 */
export function earlyReturn(code: string, one: TestCase, language: Language): number | undefined {
  if (withBraces.has(language))
    return one.inside === undefined ? undefined : amongBraces(code, one.inside, one.end);
  return byIndent(code, one);
}

function amongBraces(code: string, from: number, to: number): number | undefined {
  const form = /[()[\]{}]|\b(?:return|if|else|while|for|when|unless|case|default|switch|do)\b|[^\s]/g;
  form.lastIndex = from;
  let depth = 0;
  /** A word before which what follows depends on a condition. */
  let isConditional = false;
  for (let match = form.exec(code); match !== null && match.index < to; match = form.exec(code)) {
    const [found] = match;
    if (found === '(' || found === '[' || found === '{') depth += 1;
    else if (found === ')' || found === ']' || found === '}') {
      depth -= 1;
      if (depth < 0) return undefined;
      // Behind a block or a condition in brackets the word before still holds.
      if (depth === 0 && found === '}') isConditional = false;
    } else if (depth > 0) continue;
    else if (found === 'return') {
      const isBare = /^return[ \t]*(?:;|\n|\}|undefined\b|null\b|Promise\.resolve\(\s*\))/.test(
        code.slice(match.index, match.index + 80),
      );
      if (isBare && !isConditional) return match.index;
    } else if (/^(?:if|else|while|for|when|unless|case|default|switch|do)$/.test(found)) isConditional = true;
    else if (found === ';') isConditional = false;
  }
  return undefined;
}

/** In Python, Ruby, Elixir and shell: a line of its own at the indent of the body's first line. */
function byIndent(code: string, { start, inside, end }: TestCase): number | undefined {
  const head = code.indexOf('\n', inside ?? start);
  if (head === -1 || head >= end) return undefined;
  const first = /^\s*\n?([ \t]*)\S/.exec(code.slice(head + 1, Math.min(end, head + 2_000)));
  if (!first) return undefined;
  const indent = /\n?([ \t]*)\S$/.exec(first[0])?.[1] ?? '';
  const form = /^([ \t]*)(?:return|next)(?:[ \t]+(?:None|nil|0|true))?[ \t]*;?[ \t]*$/gm;
  form.lastIndex = head;
  for (let match = form.exec(code); match !== null && match.index < end; match = form.exec(code))
    if (match[1] === indent) return match.index;
  return undefined;
}
