import { type WordSearch, wordSearch } from '../../readers/anchors/word-search.ts';
import { grammarOf, type Language } from '../../readers/source/language.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from '../direct-eval/hit.ts';
import { type Scan, scanSyntax } from '../direct-eval/scan-syntax.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import { csharpSast } from './csharp.ts';
import { goSast } from './go.ts';
import { javaSast } from './java.ts';
import { javascriptSast } from './javascript.ts';
import { phpSast } from './php.ts';
import { pythonSast } from './python.ts';
import { type SastRow, sastRows } from './rows.ts';
import { rubySast } from './ruby.ts';
import { shellSast } from './shell.ts';

/** Languages that we have rows for. */
export type Analysed = 'python' | 'javascript' | 'java' | 'go' | 'ruby' | 'php' | 'csharp' | 'shell';

const finders: Readonly<Record<Analysed, (reading: Reading) => readonly Hit[]>> = {
  python: pythonSast,
  javascript: javascriptSast,
  java: javaSast,
  go: goSast,
  ruby: rubySast,
  php: phpSast,
  csharp: csharpSast,
  shell: shellSast,
};

/** Full-width and mathematical letters, which Python reads as plain ones. */
const pythonLetters = ['\xef\xbd', '\xf0\x9d'];

const searches = new Map<Language, { readonly change: WordSearch; readonly file: WordSearch }>(
  Object.keys(finders).map((language) => {
    const rows: readonly SastRow[] = sastRows.filter(({ id }) => id.startsWith(`sast/${language}-`));
    const words = rows.flatMap((row) => row.words);
    const fold = language === 'php';
    return [
      language as Analysed,
      {
        change: wordSearch(language === 'python' ? [...words, ...pythonLetters] : words, { fold }),
        file: wordSearch([...new Set(rows.flatMap(({ origins = [] }) => origins))], { fold }),
      },
    ];
  }),
);

/** Narrows to the languages that we have rows for. */
export function isAnalysed(language: Language | undefined): language is Analysed {
  return language !== undefined && Object.hasOwn(finders, language);
}

/** Whether bytes of a change can hold what a row is about. */
export function mayHitRow(bytes: Uint8Array, language: Analysed, start?: number, end?: number): boolean {
  return searches.get(language)?.change.found(bytes, start, end) ?? false;
}

/** Whether a file gives another name to what a row is about, so that a change may use it unseen. */
export function mayRenameRow(bytes: Uint8Array, language: Analysed): boolean {
  return searches.get(language)?.file.found(bytes) ?? false;
}

/** What our rows say of a source; nothing where no grammar reads it (Groovy). */
export async function findSast(source: ChangedSource, language: Analysed): Promise<Scan> {
  const grammar = grammarOf(source.path, language);
  if (grammar === undefined) return { hits: [], complete: true };
  return scanSyntax(source, {
    grammar,
    find: finders[language],
    mayHit: (bytes, start, end) => mayHitRow(bytes, language, start, end),
  });
}
