import { readObjects } from './blobs.ts';
import type { GitDirectory } from './git.ts';
import { emptyTreeOf } from './repository.ts';
import { treeOf } from './resolve-commit.ts';

/** The tree that a commit was made on, by its own bytes; the empty tree where it has no parent. */
export async function parentTree(place: GitDirectory, commit: string): Promise<string> {
  const [object] = await readObjects(place, [commit]);
  const [head = ''] = (object?.bytes.toString('latin1') ?? '').split('\n\n', 1);
  const parent = /^parent ([0-9a-f]+)$/m.exec(head)?.[1];
  return parent === undefined ? emptyTreeOf(place) : treeOf(place, parent);
}
