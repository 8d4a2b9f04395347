import { posix } from 'node:path';
import { isOfTests } from '../../../../readers/source/test-paths.ts';

/** What a compiler takes is the product, whatever wildcard names it. */
const compiled = /\.(?:c|cc|cpp|cxx|h|hh|hpp|go|rs|java|kt|swift|cs|zig)$/;

/**
 * Whether a file that was not there would be used by a program that lists a directory instead of asking for a name: an
 * import of Python, a glob of the shell, `$(wildcard …)`. Its directory was listed, and a text that judges names its
 * stem as a word, or a glob of its ending. Tests are no judge.
 */
export function isListedAndNamed(
  path: string,
  listed: ReadonlySet<string>,
  texts: readonly string[],
): boolean {
  const directory = posix.dirname(path);
  if (!listed.has(directory === '.' ? '' : directory) || isOfTests(path)) return false;
  const { name, ext } = posix.parse(path);
  return texts.some(
    (text) => hasWord(text, name) || (ext !== '' && !compiled.test(ext) && hasGlob(text, ext)),
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
