import { join } from 'node:path';
import { processWitness } from '../../store/journal-witness.ts';
import { isIgnoredPath } from '../../workspace/git/dirty-paths.ts';
import { maxMemoryBytes } from '../state/machine.ts';
import type { OpenRun } from '../state/open-run.ts';
import type { PrepareObserver } from './workspace-dependencies/prepared-directories.ts';
import { type FoundDependencies, findWorkspaceDependencies } from './workspace-dependencies.ts';

/** What checks of a tree that was exported to `workspace` are given (`[workspace]` at the policy commit). */
export async function findDependencies(
  { ground, means: { settings, signal } }: Pick<OpenRun, 'ground' | 'means'>,
  workspace: string,
  readBase: (path: string) => Promise<Uint8Array | undefined>,
  readCandidate: (path: string) => Promise<Uint8Array | undefined>,
  observer?: PrepareObserver,
): Promise<FoundDependencies> {
  return findWorkspaceDependencies({
    config: ground.config.workspace,
    worktree: ground.repository.root,
    workspace,
    cacheDir: join(ground.repository.commonDir, 'writ', 'cache', 'workspace'),
    sandbox: ground.sandbox,
    maxMemoryBytes: maxMemoryBytes(ground.config),
    voucher: await (settings.witness ?? processWitness).voucher('workspace-prepare'),
    readBase,
    readCandidate,
    isIgnored: (path) => isIgnoredPath(ground.repository, path),
    ...(observer === undefined ? {} : { observer }),
    signal,
  });
}
