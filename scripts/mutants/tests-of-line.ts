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
 * The files of tests that run the line of a mutant: first those that are named after its file, then the quickest. Where
 * the source is no longer what the map has seen, every one that runs anything in it. Files of tests that did not pass
 * say nothing.
 */
export function testsOfLine(
  { sources, tests }: CoverageMap,
  { file, line }: Pick<Mutant, 'file' | 'line'>,
  digest: string,
): readonly LineTest[] {
  const isSame = sources[file] === digest;
  return Object.entries(tests)
    .filter(([, { passed, lines }]) => {
      const ran = lines[file];
      return passed && ran !== undefined && (!isSame || ran.includes(line));
    })
    .map(([test, { seconds }]) => ({ test, seconds, near: nearness(test, file) }))
    .sort((a, b) => b.near - a.near || a.seconds - b.seconds || (a.test < b.test ? -1 : 1))
    .map(({ test, seconds }) => ({ test, seconds }));
}

/** 2: a test of this very file. 1: of its directory. */
function nearness(test: string, file: string): number {
  const place = dirname(test).replace(/^test\/?/, '');
  if (place !== dirname(file)) return 0;
  return basename(test, '.test.ts') === basename(file, '.ts') ? 2 : 1;
}
