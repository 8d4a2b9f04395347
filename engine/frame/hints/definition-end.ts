import type { DeclarationSyntax } from './declaration-syntax.ts';

const maxLines = 200;
const maxCharacters = 40_000;

/**
 * The last line (index) of the definition whose name ends at `column` of line `first`: the end of its block, or of its
 * statement; at most 200 lines. An estimate by brackets, indentation or `end`, never a parse.
 */
export function definitionEnd(
  lines: readonly string[],
  first: number,
  column: number,
  syntax: DeclarationSyntax,
): number {
  const last = Math.min(lines.length, first + maxLines) - 1;
  if (syntax.block === 'braces') return bracketEnd(lines, first, column, last, syntax.quotes);
  const indent = indentOf(lines[first] ?? '');
  let end = first;
  for (let at = first + 1; at <= last; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') continue;
    const isInside = indentOf(line) > indent;
    if (!isInside && syntax.block === 'end') return /^\s*end\b/.test(line) ? at : end;
    if (!isInside && !/^\s*[)\]}]/.test(line)) return end;
    end = at;
  }
  return end;
}

function bracketEnd(
  lines: readonly string[],
  first: number,
  column: number,
  last: number,
  quotes: string,
): number {
  let depth = 0;
  let budget = maxCharacters;
  let inComment = false;
  const indent = indentOf(lines[first] ?? '');
  for (let at = first; at <= last; at += 1) {
    const line = lines[at] ?? '';
    // Where a regular expression or a lone quote upset the count, the layout still says where the block ends.
    if (at > first && indentOf(line) === indent && /^\s*\}(?!.*[{(,]\s*$)/.test(line)) return at;
    for (let index = at === first ? column : 0; index < line.length && budget > 0; index += 1, budget -= 1) {
      const char = line[index] ?? '';
      if (inComment) {
        if (char === '*' && line[index + 1] === '/') inComment = false;
      } else if (char === '/' && line[index + 1] === '/') break;
      else if (char === '/' && line[index + 1] === '*') inComment = true;
      else if (quotes.includes(char)) index = closingQuote(line, index, char);
      else if (char === '(' || char === '[' || char === '{') depth += 1;
      else if (char === ')' || char === ']' || char === '}') {
        depth -= 1;
        if (depth < 0 || (depth === 0 && char === '}')) return at;
      } else if (char === ';' && depth === 0) return at;
    }
    if (budget <= 0) return at;
    const isOpen = depth > 0 || inComment || /(?:[=|&,+?:.(]|=>)\s*$/.test(line.slice(-40));
    if (!isOpen && !/^\s*[{.|&=?:+,)]/.test((lines[at + 1] ?? '').slice(0, 200))) return at;
  }
  return last;
}

function closingQuote(line: string, open: number, quote: string): number {
  for (let index = open + 1; index < line.length; index += 1) {
    if (line[index] === '\\') index += 1;
    else if (line[index] === quote) return index;
  }
  return line.length;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
