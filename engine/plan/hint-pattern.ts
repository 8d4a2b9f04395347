import { compileGlob, hasGlobCharacters } from '../../core/base/glob.ts';
import { normalisePattern } from '../../core/base/normalise-pattern.ts';

/**
 * Which paths an entry of `touchHints.files` means, seen from `root` ('' or a directory): a path, everything under a
 * directory, or a glob. `undefined` for what names no place in the repository.
 */
export function hintPattern(entry: string, root: string): ((path: string) => boolean) | undefined {
  const normal = normalisePattern(entry.trim());
  if (normal === undefined) return undefined;
  const isUnderRoot = root === '' || normal === root || normal.startsWith(`${root}/`);
  const pattern = isUnderRoot ? normal : `${root}/${normal}`;
  const plain = pattern.replace(/\/(?:\*\*)?$/, '');
  const isLiteral = (path: string): boolean => path === plain || path.startsWith(`${plain}/`);
  if (!hasGlobCharacters(plain)) return isLiteral;
  const start = literalStart(plain);
  const globs = plain === pattern ? [compileGlob(plain)] : [compileGlob(`${plain}/**`)];
  // `app/[id]/page.tsx` is a set to a glob and a file name to its author: both readings count.
  return (path) => isLiteral(path) || (path.startsWith(start) && globs.some((glob) => glob.matches(path)));
}

/** What every match begins with: spares most paths the automaton. */
function literalStart(pattern: string): string {
  return pattern.slice(0, pattern.search(/[*?[{\\]/));
}
