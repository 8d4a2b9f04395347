import { WritError } from '../../core/base/errors.ts';
import { filteredPaths } from '../../engine/vcs/filtered-paths.ts';
import type { Repository } from '../../engine/vcs/repository.ts';

const maxShown = 10;

/**
 * Filter drivers are programs, and none runs here. What one of them would have changed on its way (large files,
 * encrypted ones) must not go that way without it: UNSUPPORTED_OPERATION, naming the paths.
 */
export async function refuseFilters(
  repository: Repository,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const found = await filteredPaths(repository, paths, signal);
  const [first] = found;
  if (first === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `\`${first.path}\` goes through the filter \`${first.filter}\`, which is a program, and none of the repository's runs here`,
    detail: { filters: found.slice(0, maxShown), count: found.length },
    hints: ['do it with git itself, outside of writ'],
  });
}
