import { dirname, join } from 'node:path';

// As in `api/read-input.ts`: the ES-module face loads more than is needed.
const { existsSync } = process.getBuiltinModule('node:fs');

/** Whether something named `.git` stands in an absolute path or above it: only then it is worth to ask git. */
export function hasGitAbove(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return true;
    if (dirname(at) === at) return false;
  }
}
