import { runGit } from './git.ts';
import type { Repository } from './repository.ts';

const maxBytes = 64 * 1024 * 1024;

/** A path, and the name of the filter driver that it goes through. */
export interface FilteredPath {
  readonly path: string;
  readonly filter: string;
}

/** Those of the paths that a configured filter driver (Git LFS, git-crypt) changes on their way; writ runs none. */
export async function filteredPaths(
  repo: Repository,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<readonly FilteredPath[]> {
  const drivers = new Set(repo.settings.flatMap(([key]) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []));
  if (drivers.size === 0 || paths.length === 0) return [];
  const input = paths.map((path) => `${path}\0`).join('');
  const args = ['check-attr', '-z', '--stdin', 'filter'];
  const answer = await runGit(repo, args, { input, maxBytes, ...(signal && { signal }) });
  const fields = answer.toString('utf8').split('\0');
  const found: FilteredPath[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', filter = ''] = [fields[at], fields[at + 2]];
    if (drivers.has(filter)) found.push({ path, filter });
  }
  return found;
}
