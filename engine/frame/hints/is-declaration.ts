import type { DeclarationSyntax } from './declaration-syntax.ts';

/** A name where it stands: the line before it and behind it, both cut to a bounded length. */
export interface NameInLine {
  readonly before: string;
  readonly after: string;
}

const statementWords = new Set(
  'return new throw await yield else case if while for switch do goto in not and or assert delete'.split(' '),
);

/** Whether a name is declared where it stands, judged by the words around it. */
export function isDeclaration({ before, after }: NameInLine, syntax: DeclarationSyntax): boolean {
  const start = before.trimStart();
  if (syntax.lineComment.some((mark) => (mark === '*' ? start.startsWith('*') : before.includes(mark))))
    return false;
  const words = before.trim().split(/\s+/);
  const keyword = (words.at(-1) ?? '').replace(/^[({;]+/, '').replace(/[&*]$/, '');
  const isAtStart = before === start;
  if (syntax.keywords.has(keyword) || syntax.keywords.has(words.at(-1) ?? '')) return !/^\s*\.\w/.test(after);
  if (syntax.topKeywords.has(keyword)) return isAtStart;
  if (isQualified(words, syntax)) return true;
  if (syntax.assignment && before === '' && /^\s*(?::[^=]*)?=(?!=)/.test(after)) return true;
  if (syntax.block === 'braces' && /^(?:\}|typedef\b.*)\s*$/.test(start) && /^\s*;/.test(after)) return true;
  return syntax.bareFunction !== undefined && isBareFunction(words, after, syntax.bareFunction);
}

/** `func (r *T) Name`, `def self.name`, `function M.name`, `fun String.name`. */
function isQualified(words: readonly string[], { keywords }: DeclarationSyntax): boolean {
  const last = words.at(-1) ?? '';
  if (last.endsWith(')') && words[0] === 'func' && (words[1] ?? '').startsWith('(')) return true;
  return /^[\w:]+[.:]$/.test(last) && words.slice(0, -1).some((word) => keywords.has(word));
}

/** `name(…) {`, `name = (…) => …`, and with types in front where the language has them. */
function isBareFunction(
  words: readonly string[],
  after: string,
  allowed: ReadonlySet<string> | 'any',
): boolean {
  const prefix = words.filter((word) => word !== '');
  if (allowed === 'any') {
    if (prefix.length === 0 || prefix.some((word) => statementWords.has(word))) return false;
    if (
      !prefix.every((word) => /^[\w:<>,[\]*&~?@.]+$/.test(word)) ||
      !/[\w>\]*&:~]$/.test(prefix.at(-1) ?? '')
    )
      return false;
    return /^\s*(?:<[^(]*)?\(/.test(after) && !after.includes(';');
  }
  if (!prefix.every((word) => allowed.has(word.replace(/[*#]$/, '')) || word === '*' || word === '#'))
    return false;
  const behind = behindParameters(after);
  if (behind !== undefined) return /^\s*(?::[^={;]*)?\{/.test(behind);
  return /^\s*[=:]\s*(?:async\b\s*)?(?:function\b|[(\w<])/.test(after) && /=>|\bfunction\b/.test(after);
}

/** What follows `(…)` where the text begins with it; `undefined` where it does not, or does not close. */
function behindParameters(after: string): string | undefined {
  const open = /^\s*[?!]?\s*(?:<[^(]*)?\(/.exec(after)?.[0].length;
  if (open === undefined) return undefined;
  let depth = 1;
  for (let at = open; at < after.length; at += 1) {
    if (after[at] === '(') depth += 1;
    else if (after[at] === ')') depth -= 1;
    if (depth === 0) return after.slice(at + 1);
  }
  return '';
}
