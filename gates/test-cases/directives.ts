import type { Language } from '../../readers/source/language.ts';
import type { Conditions } from './conditions-around.ts';

const withDirectives: ReadonlySet<Language> = new Set(['c', 'csharp', 'swift']);
const form = /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b([^\n]{0,200})/gm;
/** What is true where checks are executed. */
const isHere =
  /^ifdef\s+(?:__linux__|__unix__|__GNUC__|__cplusplus)\b|^ifndef\s+(?:_?WIN32|_WIN64|_MSC_VER|__APPLE__|NDEBUG)\b|^if\s+(?:!\s*defined\s*\(?\s*(?:_?WIN32|_WIN64|_MSC_VER|__APPLE__)|defined\s*\(?\s*(?:__linux__|__unix__)|os\(Linux\)|!os\((?:macOS|iOS|Windows)\)|canImport\(|!WINDOWS\b|DEBUG\b|NET\w*)/;

/** Conditions of the preprocessor under which an offset of a text stands. */
export function directivesOf(text: string, language: Language): (offset: number) => Conditions {
  const none: Conditions = { skips: 0, elsewhere: 0 };
  if (!withDirectives.has(language)) return () => none;
  const changes: { readonly at: number; readonly now: Conditions }[] = [];
  const open: Conditions[] = [];
  for (const { index, 1: word = '', 2: said = '' } of text.matchAll(form)) {
    const outer = word.startsWith('if') ? (open.at(-1) ?? none) : (open.at(-2) ?? none);
    if (!word.startsWith('if')) open.pop();
    if (word === 'endif') {
      changes.push({ at: index, now: outer });
      continue;
    }
    const here = isHere.test(`${word}${said}`);
    const now = here ? { ...outer, elsewhere: outer.elsewhere + 1 } : { ...outer, skips: outer.skips + 1 };
    open.push(now);
    changes.push({ at: index, now });
  }
  return (offset) => {
    let low = 0;
    let high = changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((changes[middle]?.at ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return changes[low - 1]?.now ?? none;
  };
}
