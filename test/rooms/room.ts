import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { forgetLargePages } from './large-pages.ts';
import { tap as t } from './light-tap.ts';
import { ownTemporaryDirectory } from './temporary-directory.ts';
import { recordCosts } from './test-costs.ts';
import { testsOf } from './tests-of.ts';

const tests = dirname(import.meta.dirname);

forgetLargePages(process.env);

/** Milliseconds without an assertion or an end of a test: a room that goes on is not late, however busy its machine. */
const silence = 300_000;

/**
 * Runs the tests of a room, one file after the other: each place is a file of tests or a directory, of which all
 * `*.test.ts` are run, so that a new one is not forgotten. Relative to `test/`. Throws where a place holds none. A file
 * that sets a time-out sets the whole room's: the last word is said here. What the tests write is in a directory of
 * this room's own, so that a second run beside this one never sees it.
 */
export async function room(...places: readonly string[]): Promise<void> {
  t.testdirName = join(ownTemporaryDirectory(), 'fixtures');
  const goOn = (): void => t.setTimeout(silence);
  t.on('subtestStart', (test) => test.on('assert', goOn));
  t.on('subtestEnd', goOn);
  const group = groupBySubject();
  const begin = recordCosts(t);
  for (const file of testsOf(places)) {
    goOn();
    group(file);
    begin(file);
    await import(pathToFileURL(join(tests, file)).href);
  }
  goOn();
}

/** Puts the subject of a file before the names of its tests: `workspace/git/tree › lists …`. Call it before each file. */
function groupBySubject(): (file: string) => void {
  let subject = '';
  const register = t.test.bind(t) as (name: unknown, ...how: readonly unknown[]) => unknown;
  t.test = ((name, ...how) =>
    register(typeof name === 'string' ? `${subject} › ${name}` : name, ...how)) as typeof t.test;
  return (file) => {
    subject = file.replace(/(?:\.test)?\.ts$/, '');
  };
}
