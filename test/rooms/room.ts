import { globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { ownTemporaryDirectory } from './temporary-directory.ts';

const tests = dirname(import.meta.dirname);

/** Milliseconds: a room on a busy machine takes its time. */
const roomTimeout = 540_000;

/**
 * Runs the tests of a room, one file after the other: each place is a file of tests or a directory, of which all `*.test.ts` are run, so that a new
 * one is not forgotten. Relative to `test/`. Throws where a place holds none. A file that sets a time-out sets the whole room's: the
 * last word is said here. What the tests write is in a directory of this room's own, so that a second run beside this one never sees it.
 */
export async function room(...places: readonly string[]): Promise<void> {
  t.testdirName = join(ownTemporaryDirectory(), 'fixtures');
  for (const file of testsOf(places)) await import(pathToFileURL(join(tests, file)).href);
  t.setTimeout(roomTimeout);
}

/** The files of tests at these places, relative to `test/`; those of a directory in the order of their paths. */
export function testsOf(places: readonly string[]): readonly string[] {
  return places.flatMap((place) => {
    if (!statSync(join(tests, place)).isDirectory()) return [place];
    const found = globSync('**/*.test.ts', { cwd: join(tests, place) }).sort();
    if (found.length === 0) throw new Error(`\`${place}\` holds no tests`);
    return found.map((file) => join(place, file));
  });
}
