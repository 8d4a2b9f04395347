import type { Language } from '../../readers/source/language.ts';
import type { ChangedSource } from '../source/changed-source.ts';

const withPreprocessor: ReadonlySet<Language> = new Set(['c', 'csharp', 'swift']);
const directive = /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b[ \t]*([^\n]{0,200})/;

/** Whether nothing of a file is ever built: `//go:build ignore` at its head. */
export function isNeverBuilt({ text, whole }: ChangedSource, language: Language): boolean {
  if (!whole || language !== 'go') return false;
  const head = text.slice(0, Math.max(0, text.search(/^package\b/m)));
  return /^\/\/(?:go:build| ?\+build)[ \t]+ignore[ \t\r]*$/m.test(head);
}

/** The text with `#if false` and `#if 0` blanked, so that offsets stay. */
export function withoutDeadCode(text: string, language: Language): string {
  if (!withPreprocessor.has(language) || !/#[ \t]*if[ \t]+(?:0|false)\b/.test(text)) return text;
  /** By depth: whether what stands around the `#if` is left out. */
  const open: boolean[] = [];
  let isDead = false;
  return text
    .split('\n')
    .map((line) => {
      const found = directive.exec(line);
      if (!found) return isDead ? ' '.repeat(line.length) : line;
      const [, word = '', condition = ''] = found;
      if (word.startsWith('if')) {
        open.push(isDead);
        isDead ||= word === 'if' && /^(?:0|false)[ \t\r]*(?:\/[/*].*)?$/.test(condition);
      } else if (word === 'endif') {
        isDead = open.pop() ?? false;
      } else isDead = open.at(-1) ?? false;
      return ' '.repeat(line.length);
    })
    .join('\n');
}
