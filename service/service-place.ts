import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RepositoryPlace } from '../core/interfaces/store.ts';
import { readRepositorySettings } from '../store/stores.ts';

/** Where the one service of a repository keeps its files, the same for all of its work trees. */
export interface ServicePlace {
  /** Exists; the segments below it may not. */
  readonly root: string;
  readonly segments: readonly string[];
  readonly directory: string;
  readonly discovery: string;
  readonly token: string;
  /** The right to publish events of runs; in no copy for other work trees, and named to no client. */
  readonly engineToken: string;
  readonly lock: string;
  readonly database: string;
}

/**
 * False only if a repository at or above `path` certainly has no files of a service. Asks no git: most runs have no
 * service to report to.
 */
export function mayHaveService(path: string): boolean {
  try {
    for (let at = realpathSync(path); ; at = dirname(at)) {
      const git = join(at, '.git');
      const found = lstatSync(git, { throwIfNoEntry: false });
      if (found === undefined && at !== dirname(at)) continue;
      // A linked work tree, a bare repository, or settings that put the main work tree elsewhere.
      if (
        !found?.isDirectory() ||
        /worktree|include|bare\s*=\s*true/i.test(readFileSync(join(git, 'config'), 'utf8'))
      )
        return true;
      return existsSync(join(at, '.writ', 'service')) || existsSync(join(git, 'writ', 'service'));
    }
  } catch {
    return true;
  }
}

/**
 * Finds `.writ/service` of the main work tree. A bare repository, or one with a git directory elsewhere, has no main
 * work tree that all others can find. There it is `writ/service` in the git directory.
 */
export async function findServicePlace(repository: RepositoryPlace): Promise<ServicePlace> {
  const { main } = await readRepositorySettings(repository);
  const root = main ?? repository.commonDir;
  const segments = main === undefined ? ['writ', 'service'] : ['.writ', 'service'];
  const directory = join(root, ...segments);
  return {
    root,
    segments,
    directory,
    discovery: join(directory, 'service.json'),
    token: join(directory, 'service-token'),
    engineToken: join(directory, 'engine-token'),
    lock: join(directory, 'service.lock'),
    database: join(directory, 'service.db'),
  };
}
