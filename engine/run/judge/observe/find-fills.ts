import { posix } from 'node:path';
import { describesProduct } from '../../../../readers/judges/rules.ts';
import { isOfTests } from '../../../../readers/source/test-paths.ts';
import type { CheckFootprint } from './check-footprint.ts';

/** A directory judges only if it has one of these: no one who looked for its name opens another file in it. */
const indexFile = /^(?:index\.\w+|package\.json|__init__\.py|__main__\.py)$/;

/**
 * New paths that a check looked for in vain, or would find by a listing, each with how. A module has moved if the file
 * that had its name was read and is `gone` (`a.py` to `a/__init__.py`): its name was found. Pure.
 */
export function findFills(
  added: readonly string[],
  gone: readonly string[],
  footprint: Pick<CheckFootprint, 'missing' | 'listed' | 'read'>,
  texts: readonly string[],
): readonly (readonly [path: string, how: string])[] {
  const missing = new Set(footprint.missing);
  const listed = new Set(footprint.listed);
  const read = new Set(footprint.read);
  const moved = new Set(gone.filter((path) => read.has(path)).map(moduleName));
  return added.flatMap((path): readonly (readonly [string, string])[] => {
    if (moved.has(moduleName(path))) return [];
    const isIndex = indexFile.test(posix.basename(path));
    if (missing.has(path) || (isIndex && missing.has(posix.dirname(path))))
      return [[path, 'looked for it in vain']];
    return isListedAndNamed(path, listed, texts) ? [[path, 'lists its directory and names it']] : [];
  });
}

function moduleName(path: string): string {
  return path.replace(/\/(?:index|__init__)(?=\.\w+$)/, '');
}

/** What a compiler takes is the product, whatever wildcard names it. */
const compiled = /\.(?:c|cc|cpp|cxx|h|hh|hpp|go|rs|java|kt|swift|cs|zig)$/;

/**
 * Whether a file that was not there would be used by a program that lists a directory instead of asking for a name: an
 * import of Python, a glob of the shell, `$(wildcard …)`. Its directory was listed, and a text that judges names it as
 * a word (a module of Python without its ending), or a glob of its ending. Tests and descriptions are no judge.
 */
function isListedAndNamed(path: string, listed: ReadonlySet<string>, texts: readonly string[]): boolean {
  const directory = posix.dirname(path);
  if (!listed.has(directory === '.' ? '' : directory) || isOfTests(path) || describesProduct(path))
    return false;
  const { name, base, ext } = posix.parse(path);
  const word = ext === '.py' ? name : base;
  return texts.some(
    (text) => hasWord(text, word) || (ext !== '' && !compiled.test(ext) && hasGlob(text, ext)),
  );
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isWordAt(text, at - 1) && !isWordAt(text, at + word.length)) return true;
  return false;
}

function isWordAt(text: string, at: number): boolean {
  return /[\w-]/.test(text[at] ?? '');
}

function hasGlob(text: string, ext: string): boolean {
  for (let at = text.indexOf(`*${ext}`); at >= 0; at = text.indexOf(`*${ext}`, at + 1))
    if (!isWordAt(text, at + 1 + ext.length)) return true;
  return false;
}
