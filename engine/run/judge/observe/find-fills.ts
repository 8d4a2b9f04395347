import { posix } from 'node:path';
import { isCode } from '../../../../readers/source/language.ts';
import type { CheckFootprint } from './check-footprint.ts';
import { isListedAndNamed } from './listed-and-named.ts';

/** A directory judges only if it has one of these: no one who looked for its name opens another file in it. */
const indexFile = /^(?:index\.\w+|package\.json|__init__\.py|__main__\.py)$/;

/**
 * New paths that a check looked for in vain, or would find by a listing, each with how. A module whose name another
 * file had, which was read and is `gone`, has moved (`a.py` to `a/__init__.py`): that name was found. Pure.
 */
export function findFills(
  added: readonly string[],
  gone: readonly string[],
  footprint: Pick<CheckFootprint, 'missing' | 'listed' | 'read'>,
  texts: readonly string[],
): readonly (readonly [path: string, how: string])[] {
  const missing = new Set(footprint.missing);
  const listed = new Set(footprint.listed);
  const read = new Set(footprint.read);
  const moved = new Set(gone.filter((path) => read.has(path)).map(moduleName));
  return added.flatMap((path): readonly (readonly [string, string])[] => {
    if (isCode(path) && moved.has(moduleName(path))) return [];
    const isIndex = indexFile.test(posix.basename(path));
    if (missing.has(path) || (isIndex && missing.has(posix.dirname(path))))
      return [[path, 'looked for it in vain']];
    return isListedAndNamed(path, listed, texts) ? [[path, 'lists its directory and names it']] : [];
  });
}

function moduleName(path: string): string {
  return isCode(path) ? path.replace(/(?:\/(?:index|__init__))?\.\w+$/, '') : path;
}
