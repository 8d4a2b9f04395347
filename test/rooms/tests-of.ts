import { globSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const tests = dirname(import.meta.dirname);

/** The files of tests at these places, relative to `test/`; those of a directory in the order of their paths. */
export function testsOf(places: readonly string[]): readonly string[] {
  return places.flatMap((place) => {
    if (!statSync(join(tests, place)).isDirectory()) return [place];
    const found = globSync('**/*.test.ts', { cwd: join(tests, place) }).sort();
    if (found.length === 0) throw new Error(`\`${place}\` holds no tests`);
    return found.map((file) => join(place, file));
  });
}
