import { WritError } from '../../core/base/errors.ts';
import { promisedBelow } from './hash-tree.ts';
import type { Repository } from './repository.ts';

/** Brings all objects that a partial clone left out. */
const fetchAll = 'git fetch --refetch --no-filter';

/**
 * Throws OBJECTS_MISSING if a partial clone lacks objects of one of these trees. writ never lets git fetch them while a
 * run works: the network and the user's credentials are not for a run. Any other repository costs no look.
 */
export async function requireObjects(repository: Repository, trees: readonly string[]): Promise<void> {
  if (repository.isWhole) return;
  for (const tree of new Set(trees)) {
    const missing = await promisedBelow(repository, tree);
    if (missing.size === 0) continue;
    throw new WritError('OBJECTS_MISSING', {
      message: `${missing.size} objects of the tree \`${tree.slice(0, 12)}\` are not in this partial clone; a run needs all of them`,
      detail: { tree, missing: missing.size, objects: [...missing].slice(0, 10) },
      hints: [`fetch them: \`${fetchAll}\``],
    });
  }
}
