import { join } from 'node:path';
import { isWritError } from '../../../../core/base/errors.ts';
import { processWitness } from '../../../store/process-witness.ts';
import { readBlob } from '../../../vcs/blobs.ts';
import { isIgnoredPath } from '../../../vcs/ignored.ts';
import { findWorkspaceDependencies, type ProvidedDirectory } from '../../judge/workspace-dependencies.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { maxMemoryBytes } from '../../state/max-memory-bytes.ts';

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

async function find({ ground, means }: OpenRun, workspace: string, tree: string): Directories {
  const { scratch, settings, signal } = means;
  const read = (path: string) => readBlob(scratch, tree, path);
  try {
    const { provided } = await findWorkspaceDependencies({
      config: ground.config.workspace,
      worktree: ground.repository.root,
      workspace,
      cacheDir: join(ground.repository.commonDir, 'writ', 'cache', 'workspace'),
      sandbox: ground.sandbox,
      maxMemoryBytes: maxMemoryBytes(ground.config),
      voucher: await (settings.witness ?? processWitness).voucher('workspace-prepare'),
      readBase: read,
      readCandidate: read,
      isIgnored: (path) => isIgnoredPath(ground.repository, path),
      signal,
    });
    return provided;
  } catch (fault) {
    signal.throwIfAborted();
    // Whoever judges the change says what is wrong with it.
    if (!isWritError(fault, 'WORKSPACE_PREPARE_FAILED')) throw fault;
    return [];
  }
}
