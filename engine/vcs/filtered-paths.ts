import { runGit } from './git.ts';
import type { Repository } from './repository.ts';

const maxBytes = 512 * 1024 * 1024;

/** Those of the paths that a configured filter driver (Git LFS, git-crypt) changes on their way; writ runs none. */
export async function filteredPaths(repo: Repository, paths: readonly string[]): Promise<readonly string[]> {
  const drivers = new Set(repo.settings.flatMap(([key]) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []));
  if (drivers.size === 0 || paths.length === 0) return [];
  const input = paths.map((path) => `${path}\0`).join('');
  const answer = await runGit(repo, ['check-attr', '-z', '--stdin', 'filter'], { input, maxBytes });
  const fields = answer.toString('utf8').split('\0');
  const found: string[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3)
    if (drivers.has(fields[at + 2] ?? '')) found.push(fields[at] ?? '');
  return found;
}
