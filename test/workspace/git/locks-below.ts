import { readdirSync } from 'node:fs';

/** What a killed git or writ may leave in a git directory: lock files, claims, copies of the index. */
export function locksBelow(gitDir: string): readonly string[] {
  return readdirSync(gitDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.lock$|writ-index|packed-refs\.new$|git-locks\/./.test(name))
    .sort();
}
