import { pathGlob } from './path-glob.ts';

const maxGlobs = 100;

/**
 * Tells whether programs run in a directory ('' for the root). `places` are directories, globs of such, and `**` for
 * every one; more than a hundred globs count as that.
 */
export function placeTest(places: readonly string[]): (directory: string) => boolean {
  const named = new Set(places.filter((place) => !place.includes('*')));
  const globs = places.filter((place) => place.includes('*'));
  if (globs.includes('**') || globs.length > maxGlobs) return () => true;
  const forms = globs.flatMap((glob) => pathGlob(glob) ?? []);
  return (directory) => named.has(directory) || forms.some((form) => form.test(directory));
}
