import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../inside.ts';

/**
 * Where a path of an invocation really leads, relative to the workspace: through symlinks, for a file that does not
 * exist yet through those of its directory. `undefined` where that is outside the workspace or cannot be told.
 */
export function realPathIn(workspace: string, file: string): string | undefined {
  if (file === '' || file.includes('\0')) return undefined;
  const root = realpathSync(workspace);
  const real = resolve(path.resolve(root, file));
  return real !== undefined && isInside(root, real) ? relativeTo(root, real) : undefined;
}

/** The path of the entry itself, which is what a deletion removes; only its directory is resolved. */
export function entryPathIn(workspace: string, file: string): string | undefined {
  if (file === '' || file.includes('\0')) return undefined;
  const root = realpathSync(workspace);
  const entry = path.resolve(root, file);
  const directory = resolve(path.dirname(entry));
  if (directory === undefined) return undefined;
  const real = path.join(directory, path.basename(entry));
  return isInside(root, real) ? relativeTo(root, real) : undefined;
}

function resolve(absolute: string): string | undefined {
  let current: string = path.parse(absolute).root;
  for (const part of absolute.slice(current.length).split(path.sep)) {
    const next = path.join(current, part);
    try {
      const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() === true;
      current = isLink ? realpathSync(next) : next;
    } catch {
      // Dangling or circular, a write would land where nobody looked; or a name that is too long for any file.
      return undefined;
    }
  }
  return current;
}

function relativeTo(root: string, real: string): string {
  const relative = path.relative(root, real);
  return relative === '' ? '.' : relative.split(path.sep).join('/');
}
