import { WritError } from '../../core/base/errors.ts';
import { runGit } from '../../engine/vcs/git.ts';
import type { Repository } from '../../engine/vcs/repository.ts';

const maxBytes = 64 * 1024 * 1024;
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
  const drivers = new Set(
    repository.settings.flatMap(([key]) => /^filter\.(.*)\.[^.]+$/s.exec(key)?.[1] ?? []),
  );
  if (drivers.size === 0 || paths.length === 0) return;
  const input = paths.map((path) => `${path}\0`).join('');
  const told = await runGit(repository, ['check-attr', '-z', '--stdin', 'filter'], {
    input,
    maxBytes,
    signal,
  });
  const fields = told.toString('utf8').split('\0');
  const found: { path: string; filter: string }[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', filter = ''] = [fields[at], fields[at + 2]];
    if (drivers.has(filter)) found.push({ path, filter });
  }
  const [first] = found;
  if (first === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `\`${first.path}\` goes through the filter \`${first.filter}\`, which is a program, and none of the repository's runs here`,
    detail: { filters: found.slice(0, maxShown), count: found.length },
    hints: ['do it with git itself, outside of writ'],
  });
}
