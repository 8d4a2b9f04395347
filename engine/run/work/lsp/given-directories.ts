import { isWritError } from '../../../../core/base/errors.ts';
import { readBlob } from '../../../vcs/blobs.ts';
import { findDependencies } from '../../judge/find-dependencies.ts';
import type { ProvidedDirectory } from '../../judge/workspace-dependencies.ts';
import type { OpenRun } from '../../state/attempt.ts';

type Directories = Promise<readonly ProvidedDirectory[]>;

/** Of one run in this process, by the tree that attempts start from. */
const known = new WeakMap<object, Map<string, Directories>>();

/** What checks of a tree would be given (`[workspace]` at the policy commit); nothing where that cannot be had. */
export function givenDirectories(run: OpenRun, workspace: string, tree: string): Directories {
  const { share, prepare } = run.ground.config.workspace;
  if (share.length + prepare.length === 0) return Promise.resolve([]);
  const trees = known.get(run.ground) ?? new Map<string, Directories>();
  known.set(run.ground, trees);
  const found = trees.get(tree) ?? find(run, workspace, tree);
  trees.set(tree, found);
  return found;
}

async function find(run: OpenRun, workspace: string, tree: string): Directories {
  const read = (path: string) => readBlob(run.means.scratch, tree, path);
  try {
    return (await findDependencies(run, workspace, read, read)).provided;
  } catch (fault) {
    run.means.signal.throwIfAborted();
    // Whoever judges the change says what is wrong with it.
    if (!isWritError(fault, 'WORKSPACE_PREPARE_FAILED')) throw fault;
    return [];
  }
}
