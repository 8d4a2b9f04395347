import type { Entry } from './run-entry.ts';

/** Files of tests (`test/…/x.test.ts`), run as a room runs its own. */
export function filesEntry(files: readonly string[]): Entry {
  const [only = ''] = files;
  return {
    name: files.length === 1 ? only : `${files.length} files`,
    argv: ['test/rooms/chosen.ts', ...files.map((file) => file.replace(/^test\//, ''))],
  };
}
