import { basename, dirname } from 'node:path';
import type { CoverageMap } from '../coverage-map/coverage-map.ts';
import type { Mutant } from './mutant.ts';

/** A file of tests that runs the line of a mutant. */
export interface LineTest {
  readonly test: string;
  /** What it took when it ran alone. */
  readonly seconds: number;
}

/**
 * The files of tests that run the line of a mutant, those first that find most for their time: who runs much of the
 * file, above all a test that is named after it or stands where it does, and who is quick. Where the source is no
 * longer what the map has seen, every one that runs anything in it. Files of tests that did not pass come last.
 */
export function testsOfLine(
  { sources, tests }: CoverageMap,
  { file, line }: Pick<Mutant, 'file' | 'line'>,
  digest: string,
): readonly LineTest[] {
  const isSame = sources[file] === digest;
  const most = Math.max(1, ...Object.values(tests).map(({ lines }) => lines[file]?.length ?? 0));
  return Object.entries(tests)
    .flatMap(([test, { passed, seconds, lines }]) => {
      const ran = lines[file];
      if (ran === undefined || (isSame && !ran.includes(line))) return [];
      const worth = (nearness(test, file) * (ran.length / most) ** 4) / Math.sqrt(1 + seconds);
      return [{ test, seconds, worth: passed ? worth : 0 }];
    })
    .sort((a, b) => b.worth - a.worth || a.seconds - b.seconds || (a.test < b.test ? -1 : 1))
    .map(({ test, seconds }) => ({ test, seconds }));
}

function nearness(test: string, file: string): number {
  const place = dirname(test).replace(/^test\/?/, '');
  // The rule `no-direct-eval` is most of what stands in `direct-eval/`.
  if (place !== dirname(file)) return basename(test).includes(basename(dirname(file))) ? 4 : 1;
  return basename(test, '.test.ts') === basename(file, '.ts') ? 10 : 3;
}
