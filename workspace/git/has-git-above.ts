/* Decides without git whether a directory can be inside of a repository. */
import { dirname, join } from 'node:path';

// The import of `node:fs` as an ES module loads more than is needed at start.
const { existsSync } = process.getBuiltinModule('node:fs');

/** True if an absolute path or a directory above it contains `.git`. */
export function hasGitAbove(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true;
    if (dirname(at) === at) return false;
  }
}
