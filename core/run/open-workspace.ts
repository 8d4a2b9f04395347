import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../contract/finding.ts';
import type { SandboxBind } from '../contract/sandbox.ts';
import { readBlob } from '../vcs/blobs.ts';
import { isIgnoredPath } from '../vcs/ignored.ts';
import { exportWorkspace } from '../vcs/workspace.ts';
import type { Attempt, Workspace } from './attempt.ts';
import { provideWorkspaceDependencies } from './workspace-dependencies.ts';

/** Exports the candidate to where checks run. `undefined` for a rejected patch: nothing of it is ever executed. */
export async function openWorkspace(
  attempt: Attempt,
  patchFindings: readonly Finding[],
): Promise<Workspace | undefined> {
  if (patchFindings.some((finding) => finding.severity === 'error')) return undefined;
  const { ground, patch, scratch, privateRoot, journal } = attempt;
  const directory = join(privateRoot, 'workspace');
  const reportsRoot = join(privateRoot, 'reports');
  await mkdir(reportsRoot, { mode: 0o700 });
  const exported = await exportWorkspace(scratch, patch.candidateTree, directory, patch.baseCommit);
  const { binds, resolvedDependencies, notes } = await provideWorkspaceDependencies({
    config: ground.config.workspace,
    worktree: ground.repository.root,
    workspace: directory,
    cacheDir: join(ground.repository.commonDir, 'writ', 'cache', 'workspace'),
    sandbox: ground.sandbox,
    readBase: (path) => readBlob(scratch, patch.baseTree, path),
    readCandidate: (path) => readBlob(scratch, patch.candidateTree, path),
    isIgnored: (path) => isIgnoredPath(ground.repository, path),
    signal: attempt.signal,
  });
  await journal.append('workspace-opened', {
    notes,
    caseCollisions: exported.caseCollisions,
    submodules: exported.submodules,
  });
  return {
    directory,
    reportsRoot,
    sandbox: ground.sandbox,
    // Without a sandbox everything is where it is already.
    binds: ground.sandbox.name === 'none' ? binds : [...binds, ...exported.borrowed.map(readOnlyAt)],
    dependencies: resolvedDependencies,
    notes,
  };
}

/** Git in a check reads the objects that the workspace's `.git` borrows, where it borrows them. */
function readOnlyAt(directory: string): SandboxBind {
  return { source: directory, target: directory, writable: false };
}
