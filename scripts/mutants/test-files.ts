import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { scanSource } from '../../test/architecture/scan-source.ts';

/** What a file of tests says of itself, whether a map has seen it or not. */
export interface TestFile {
  /** Sources that it imports itself, relative to the project. */
  readonly imports: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

export type TestFiles = ReadonlyMap<string, TestFile>;

/** The files of tests of a tree as they are now. */
export function readTestFiles(root: string): TestFiles {
  return new Map(
    globSync('test/**/*.test.ts', { cwd: root }).map((path) => [
      path,
      describeTestFile(path, readFileSync(join(root, path), 'utf8')),
    ]),
  );
}

export function describeTestFile(path: string, text: string): TestFile {
  return { imports: new Set(importsOf(path, text)), words: new Set(wordsOf(text)) };
}

/** What of the project a source imports, relative to it. */
export function importsOf(path: string, text: string): readonly string[] {
  return scanSource(text).specifiers.flatMap((specifier) =>
    specifier.startsWith('.') ? [posix.join(posix.dirname(path), specifier)] : [],
  );
}

/** Names and what strings say, without the shortest. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/[A-Za-z_][\w]{3,}/g) ?? [];
}

/**
 * How much of what these words say a file of tests says, too, from 0 to 1: words that few files of tests have count
 * most, and those that none has count nothing.
 */
export function sharedWords(files: TestFiles, words: readonly string[]): (test: string) => number {
  const weights = [...new Set(words)].flatMap((word) => {
    let having = 0;
    for (const file of files.values()) if (file.words.has(word)) having += 1;
    return having === 0 ? [] : [[word, Math.log(1 + files.size / having)] as const];
  });
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return (test) => {
    const file = files.get(test);
    if (file === undefined || all === 0) return 0;
    return weights.reduce((sum, [word, weight]) => sum + (file.words.has(word) ? weight : 0), 0) / all;
  };
}
