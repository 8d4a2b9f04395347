import type { Language } from '../../readers/source/language.ts';
import {
  bindingsOf,
  libraryNames,
  resolveFrom,
  testLibrary,
  withoutEnding,
} from '../test-cases/library-bindings.ts';

/** One side of a file. */
export interface ReadText {
  readonly path: string;
  readonly text: string;
  /** Of the same length, without what strings and comments hold. */
  readonly code: string;
}

/** What took the place of a test library. */
export interface Exchange {
  readonly at: number;
  /** The file that takes its place is seen, and gives nothing of a library. */
  readonly isHollow: boolean;
}

/** Imports of test libraries in languages other than JavaScript. */
const libraries: Readonly<Partial<Record<Language, RegExp>>> = {
  java: /^import\s+(?:static\s+)?(?:org\.junit|junit\.framework|org\.testng|org\.assertj|org\.hamcrest|com\.google\.common\.truth|io\.kotest|kotlin\.test|spock)\b[^\n]*\b(?:Assert|Assertions|Truth|MatcherAssert|Matchers|assert\w*)\b[^\n]*/gm,
  kotlin:
    /^import\s+(?:org\.junit|kotlin\.test|org\.assertj|io\.kotest|strikt|assertk|com\.google\.common\.truth)\b[^\n]*(?:assert|should|expect|Assert|\*)[^\n]*/gm,
  csharp:
    /^using\s+(?:static\s+)?(?:Xunit|NUnit|Microsoft\.VisualStudio\.TestTools|FluentAssertions|Shouldly|TUnit|AwesomeAssertions)\b[^\n]*/gm,
};
const anyImport: Readonly<Partial<Record<Language, RegExp>>> = {
  java: /^import\s+static\s+[^\n]*/gm,
  kotlin: /^import\s+[^\n]*(?:assert|should|expect|Assert|\*)[^\n]*/gm,
  csharp: /^using\s+[^\n]*/gm,
};

/**
 * What took the place of a test library in a file: names that came from one at the base and come from elsewhere now.
 * `files` are the changed ones, by their path without ending.
 */
export function exchangedLibrary(
  base: ReadText,
  candidate: ReadText,
  language: Language,
  files: ReadonlyMap<string, ReadText>,
): readonly Exchange[] {
  if (language !== 'javascript') return exchangedImports(base.text, candidate.text, language);
  const was = new Set(
    bindingsOf(base.text, base.code)
      .filter(({ module }) => testLibrary.test(module))
      .map(({ name }) => name),
  );
  if (was.size === 0) return [];
  return bindingsOf(candidate.text, candidate.code)
    .filter(({ name, module }) => was.has(name) && !testLibrary.test(module))
    .flatMap(({ name, module, at }): readonly Exchange[] => {
      const file = module.startsWith('.')
        ? files.get(withoutEnding(resolveFrom(candidate.path, module)))
        : undefined;
      if (!file) return [{ at, isHollow: false }];
      return givesLibrary(file, name) ? [] : [{ at, isHollow: true }];
    });
}

/** Whether a file hands on what it took from a library: by its name, or as what it exports by default or in full. */
function givesLibrary({ text, code }: ReadText, name: string): boolean {
  if (/\bnew\s+Proxy\b/.test(code)) return false;
  for (const [, module = ''] of text.matchAll(
    /\bexport\s+(?:\*|\{[^}]{0,400}\})\s*from\s*["']([^"'\n]{1,200})["']/g,
  ))
    if (testLibrary.test(module)) return true;
  const names = [...libraryNames(text, code)].filter((one) => !/\$/.test(one)).slice(0, 60);
  if (names.length === 0) return false;
  const any = `(?:${names.join('|')})`;
  return new RegExp(
    String.raw`\bexport\s+(?:default|(?:const|let)\s+${name}\s*(?::[^=\n]{0,80})?=)\s*${any}\b|\bexport\s*\{[^}]{0,400}\b(?:${names.join('|')})\b|\bexports(?:\.\w{1,60})?\s*=\s*(?:${any}\b|\{[^}]{0,400}\b${any}\b)|\bexport\s+(?:async\s+)?function\s+${name}\b[^]{0,2000}?\b${any}\b`,
  ).test(code);
}

function exchangedImports(before: string, after: string, language: Language): readonly Exchange[] {
  const library = libraries[language];
  const any = anyImport[language];
  if (!library || !any || !new RegExp(library, 'm').test(before) || new RegExp(library, 'm').test(after))
    return [];
  const known = new Set([...before.matchAll(any)].map(([line]) => line));
  return [...after.matchAll(any)]
    .filter(([line]) => !known.has(line))
    .slice(0, 1)
    .map(({ index }) => ({ at: index, isHollow: false }));
}
