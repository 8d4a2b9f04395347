import { pathGlob } from './path-glob.ts';

/** Whether programs run in a directory ('' for the root): `places` are directories, globs of such, and `**` for every one. */
export function isPlace(directory: string, places: readonly string[]): boolean {
  return places.some(
    (place) =>
      place === directory ||
      place === '**' ||
      (place.includes('*') && pathGlob(place)?.test(directory) === true),
  );
}
