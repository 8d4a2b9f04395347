import { basename, dirname } from 'node:path';
import type { CoverageMap, TestCoverage } from '../coverage-map/coverage-map.ts';
import { sharedWords, type TestFiles, wordsOf } from './test-files.ts';

/** A file of tests that runs the line of a mutant, or may. */
export interface LineTest {
  readonly test: string;
  /** What it took when it ran alone. */
  readonly seconds: number;
}

/** Where a mutant is. */
export interface MutantPlace {
  readonly file: string;
  readonly line: number;
  /** The text of the line and of those around it. */
  readonly around: string;
  /** Of the source as it is. */
  readonly digest: string;
  /** Sources that import it. */
  readonly importers: readonly string[];
}

/** What a file of tests is taken to cost that no map has seen. */
const unknownSeconds = 10;
/** What every file of tests costs, however quick it is. */
const startSeconds = 3;
/** What is a test of just this source is worth at least. */
const own = 10;

/**
 * The files of tests that run the line of a mutant, those first that find most for their time: a test that is named
 * after the source or imports it, then who speaks of what stands there, who runs much of the file, and who is quick.
 * Where the source is no longer what the map has seen, every one that runs anything in it, or, where the map has not
 * seen it at all, in what imports it; one that the map has not seen where its name, place or imports tell that it may.
 * Files of tests that did not pass come last.
 */
export function testsOfLine(
  { sources, tests }: CoverageMap,
  { file, line, around, digest, importers }: MutantPlace,
  files: TestFiles,
): readonly LineTest[] {
  const seen = sources[file] === undefined ? importers : [file];
  const linesIn = (known: TestCoverage | undefined): number =>
    seen.reduce((sum, source) => sum + (known?.lines[source]?.length ?? 0), 0);
  const most = Math.max(1, ...Object.values(tests).map(linesIn));
  const shared = sharedWords(files, wordsOf(around));
  return [...files]
    .flatMap(([test, { imports }]) => {
      const known = tests[test];
      const near = nearness(test, file, imports);
      const ran = known === undefined ? (near > 1 ? most / 2 : 0) : linesIn(known);
      const isElsewhere =
        sources[file] === digest && known !== undefined && !known.lines[file]?.includes(line);
      if (ran === 0 || isElsewhere) return [];
      const seconds = known?.seconds ?? unknownSeconds;
      // What is tested for itself runs little else: only of the others the share tells something.
      const share = near >= own ? 1 : (ran / most) ** 2;
      const worth = (near * share * (1 + 4 * shared(test))) / (startSeconds + seconds);
      return [{ test, seconds, worth: known?.passed === false ? 0 : worth }];
    })
    .sort((a, b) => b.worth - a.worth || a.seconds - b.seconds || (a.test < b.test ? -1 : 1))
    .map(({ test, seconds }) => ({ test, seconds }));
}

function nearness(test: string, file: string, imports: ReadonlySet<string>): number {
  const place = dirname(test).replace(/^test\/?/, '');
  const isNamed = basename(test, '.test.ts') === basename(file, '.ts');
  if (isNamed && place === dirname(file)) return 3 * own;
  if (imports.has(file)) return 2 * own;
  if (isNamed && dirname(file).startsWith(place)) return own;
  if (place === dirname(file)) return 3;
  // The rule `no-direct-eval` is most of what stands in `direct-eval/`.
  return basename(test).includes(basename(dirname(file))) ? 4 : 1;
}
