import { join } from 'node:path';
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
