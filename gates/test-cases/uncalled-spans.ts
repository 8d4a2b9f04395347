import type { Language } from '../../readers/source/language.ts';
import { isOutline, type Shape } from './layout.ts';
import type { Outline } from './outline.ts';
import type { Span } from './spans.ts';

/** How a function is written that is a value. */
const closure: Readonly<Partial<Record<Language, string>>> = {
  javascript: String.raw`(?:async\b\s*)?(?:function\b|\([^()\n]{0,300}\)\s*(?::[^=\n]{0,80})?=>|\w{1,60}\s*=>)`,
  python: String.raw`lambda\b`,
  go: String.raw`func\s*\(`,
  rust: String.raw`(?:move\s*)?\|[^|\n]{0,200}\|`,
  java: String.raw`(?:\([^()\n]{0,200}\)|\w{1,60})\s*->`,
  kotlin: String.raw`(?:fun\s*\(|\{)`,
  scala: String.raw`\([^()\n]{0,200}\)\s*=>`,
  csharp: String.raw`(?:async\s*)?(?:\([^()\n]{0,200}\)|\w{1,60})\s*=>`,
  c: String.raw`\[[&=\w, ]{0,80}\]\s*(?:\([^()\n]{0,200}\)\s*)?(?:mutable\s*)?\{`,
  swift: String.raw`\{`,
  php: String.raw`(?:static\s+)?(?:function|fn)\b`,
  ruby: String.raw`(?:->|lambda\b|proc\b|Proc\.new\b)`,
  perl: String.raw`sub\b`,
};
/** Functions declared by name within another: a method or a public function somebody else may call. */
const declared: Readonly<Partial<Record<Language, string>>> = {
  javascript: String.raw`\bfunction\s*\*?\s*(\w{1,80})\s*\(|\bclass\s+(\w{1,80})\b`,
  python: String.raw`^[ \t]+(?:async\s+)?def\s+(?!test)(\w{1,80})\s*\(`,
  rust: String.raw`\bfn\s+(\w{1,80})\s*[(<]|\bmacro_rules!\s*(\w{1,80})`,
  kotlin: String.raw`\bfun\s+(\w{1,80})\s*\(`,
  swift: String.raw`\bfunc\s+(?!test)(\w{1,80})\s*\(`,
};
const bareArrow = /(?:^|[;{}\n])[ \t]*((?:async\s*)?(?:\([^()\n]{0,200}\)|\w{1,40})\s*=>)/g;

/**
 * Functions of which nothing but their name is ever said: they are not called, handed on, returned or exported in the
 * file. Methods and functions at the top of a file count where nobody outside could call them.
 */
export function uncalledSpans(code: string, language: Language, shape: Shape): readonly Span[] {
  const outline = isOutline(shape) ? shape : undefined;
  const spans: Span[] = [];
  let uses: ReadonlyMap<string, number> | undefined;
  const isUsed = (name: string): boolean => {
    uses ??= countUses(code);
    return name !== '_' && (uses.get(name) ?? 0) > 0;
  };
  const value = closure[language];
  if (value !== undefined) {
    const form = new RegExp(
      String.raw`([$@]?\b\w{1,80})\s*(?::[^=\n;]{0,80})?(?::=|=)[ \t\n]*(?=${value})`,
      'g',
    );
    for (const match of code.matchAll(form)) {
      const [{ length }, name = ''] = match;
      const start = outline ? outline.startOf(match.index) : code.lastIndexOf('\n', match.index) + 1;
      const before = code.slice(Math.max(start, match.index - 200), match.index);
      // A member, an export or a default is somebody else's to call.
      if (/[.\](,]\s*$|\bexport\b|\bdefault\b|\bexports\b/.test(before) || isUsed(name.replace(/^[$@]/, '')))
        continue;
      if (
        outline &&
        outline.brackets[outline.around(match.index)]?.mark !== '{' &&
        outline.around(match.index) !== -1
      )
        continue;
      if ((language === 'kotlin' || language === 'swift') && !/\b(?:val|var|let)\s+$/.test(before)) continue;
      const from = match.index + length;
      spans.push([from, language === 'python' ? lineEnd(code, from) : shape.endOf(from)]);
    }
  }
  const named = declared[language];
  if (named !== undefined)
    for (const match of code.matchAll(new RegExp(named, 'gm'))) {
      const name = match[1] ?? match[2] ?? '';
      if (isUsed(name) || !isInner(code, match.index, language, outline)) continue;
      spans.push([match.index, shape.endOf(match.index + Math.max(0, match[0].search(/\S/)))]);
    }
  if (language === 'javascript')
    for (const match of code.matchAll(bareArrow)) {
      const from = match.index + match[0].length - (match[1]?.length ?? 0);
      const holder = outline?.brackets[outline.around(from)];
      // In an object or in arguments it is a value.
      if (outline && (holder === undefined || (holder.mark === '{' && outline.startOf(from) >= from - 200)))
        if (/^\s*$/.test(code.slice(outline.startOf(from), from))) spans.push([from, outline.endOf(from)]);
    }
  return spans;
}

function isInner(code: string, at: number, language: Language, outline: Outline | undefined): boolean {
  if (language === 'python') return true;
  if (language === 'javascript') {
    const holder = outline?.brackets[outline.around(at)];
    if (holder && holder.mark !== '{') return false;
    const start = outline?.startOf(at) ?? 0;
    return !/\bexport\b|[=(,:]\s*$|\breturn\s*$/.test(code.slice(Math.max(start, at - 200), at));
  }
  if (language === 'rust' && code.startsWith('macro_rules', at)) return true;
  // In a function's body, not in a module, class or trait.
  const holder = outline?.brackets[outline.around(at)];
  return (
    holder !== undefined &&
    /\b(?:fn|fun|func)\b[^{}]*$/.test(outline?.header(holder) ?? '') &&
    !/#\[[^\]\n]{0,80}test[^\n]{0,80}\]\s*(?:\w+\s+)*$/.test(code.slice(Math.max(0, at - 300), at))
  );
}

function lineEnd(code: string, from: number): number {
  const end = code.indexOf('\n', from);
  return end === -1 ? code.length : end;
}

/** How often each name is said, apart from where it is declared and from where that comes to nothing. */
function countUses(code: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const form =
    /(?:\b(?:function\s*\*?|def|fn|fun|func|sub|class|const|let|var|val|auto|final|macro_rules!|Runnable|Action|Executable|void|typeof)\s+|\b_\s*=\s*)?(?:mut\s+|self\.)?[$@]?\b([A-Za-z_]\w{0,79})\b(?!\s*(?::[^=\n;:]{0,80})?(?::=|=(?![=>])))/g;
  for (const match of code.matchAll(form)) {
    const [said, name = ''] = match;
    if (said.length > name.length + 1) continue;
    const before = code[match.index - 1] ?? '\n';
    const rest = code.slice(match.index + said.length, match.index + said.length + 3);
    // A name alone, as a statement.
    if (/[\s;{}]/.test(before) && /^[ \t]*(?:;|\n|$)/.test(rest) && isAlone(code, match.index)) continue;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function isAlone(code: string, at: number): boolean {
  return /(?:^|[;{}\n])[ \t]*[$@]?$/.test(code.slice(Math.max(0, at - 40), at));
}
