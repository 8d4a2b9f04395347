import { directoryOf, resolvePath } from './reading.ts';

/** A path that a file names, as seen from the repository's root; one that leaves the repository begins with `../`. */
export function placeOf(file: string, path: string): string {
  return resolvePath(directoryOf(file), path) ?? `../${path.slice(0, 1000)}`;
}
