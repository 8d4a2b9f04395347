import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DigestedThing } from '../contract/attestor.ts';
import type { SandboxBind } from '../contract/sandbox.ts';
import { readBlob } from '../vcs/blobs.ts';
import { isIgnoredPath } from '../vcs/ignored.ts';
import { exportWorkspace, removeWorkspace } from '../vcs/workspace.ts';
import type { Attempt, Workspace } from './attempt.ts';
import { type DependencyNote, provideWorkspaceDependencies } from './workspace-dependencies.ts';

/** The workspace in which checks of this epoch ended is gone: what they left behind for later ones went with it. */
export class WorkspaceLost extends Error {}

/** A workspace that is opened when the first check needs it. */
export interface OpeningWorkspace {
  open(): Promise<Workspace>;
  /** The same for the base, beside it: exported anew by every process that asks. */
  readonly base: { open(): Promise<Workspace> };
  /** Untracked directories that the checks were given, in this process or an earlier one; none where no check needed a workspace. */
  dependencies(): readonly DigestedThing[];
}

interface Provided {
  readonly dependencies: readonly DigestedThing[];
  readonly notes: readonly DependencyNote[];
}

/**
 * The workspace of one epoch of an attempt: exported from the candidate once, taken up again by a later process on this machine.
 * `open` rejects with WorkspaceLost where it was given out before and is no longer there.
 */
export function openingWorkspace(attempt: Attempt, epoch: number): OpeningWorkspace {
  const { steps, ground, privateRoot, name } = attempt;
  const root = join(privateRoot, `${name}-${epoch}`);
  const directory = join(root, 'workspace');
  const reportsRoot = join(root, 'reports');
  let opened: Promise<Workspace> | undefined;
  let openedBase: Promise<Workspace> | undefined;
  const provided = (): Provided | undefined => steps.ended('workspace')?.answer as Provided | undefined;

  async function open(): Promise<Workspace> {
    const before = steps.ended('local/workspace');
    if (steps.ended('workspace') && (!before || !(await isDirectory(directory)))) throw new WorkspaceLost();
    const { binds, ...made } = await steps.once('local/workspace', () =>
      makeWorkspace(attempt, directory, 'candidateTree'),
    );
    const { dependencies, notes } = await steps.once('workspace', (): Provided => made);
    await rm(reportsRoot, { recursive: true, force: true });
    await mkdir(reportsRoot, { mode: 0o700 });
    return { directory, reportsRoot, sandbox: ground.sandbox, binds, dependencies, notes };
  }

  async function openBase(): Promise<Workspace> {
    const place = join(root, 'base');
    const made = await makeWorkspace(attempt, join(place, 'workspace'), 'baseTree');
    const reports = join(place, 'reports');
    await rm(reports, { recursive: true, force: true });
    await mkdir(reports, { mode: 0o700 });
    return { ...made, directory: join(place, 'workspace'), reportsRoot: reports, sandbox: ground.sandbox };
  }

  return {
    open() {
      opened ??= open();
      return opened;
    },
    base: {
      open() {
        openedBase ??= openBase();
        return openedBase;
      },
    },
    dependencies: () => provided()?.dependencies ?? [],
  };
}

async function makeWorkspace(
  { ground, patch, scratch, signal }: Attempt,
  directory: string,
  side: 'candidateTree' | 'baseTree',
): Promise<Provided & { readonly binds: readonly SandboxBind[] }> {
  await removeWorkspace(directory);
  await mkdir(join(directory, '..'), { recursive: true, mode: 0o700 });
  const exported = await exportWorkspace(scratch, patch[side], directory, patch.baseCommit);
  const { binds, resolvedDependencies, notes } = await provideWorkspaceDependencies({
    config: ground.config.workspace,
    worktree: ground.repository.root,
    workspace: directory,
    cacheDir: join(ground.repository.commonDir, 'writ', 'cache', 'workspace'),
    sandbox: ground.sandbox,
    readBase: (path) => readBlob(scratch, patch.baseTree, path),
    readCandidate: (path) => readBlob(scratch, patch[side], path),
    isIgnored: (path) => isIgnoredPath(ground.repository, path),
    signal,
  });
  return {
    // Without a sandbox everything is where it is already.
    binds: ground.sandbox.name === 'none' ? binds : [...binds, ...exported.borrowed.map(readOnlyAt)],
    dependencies: resolvedDependencies,
    notes,
  };
}

async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Git in a check reads the objects that the workspace's `.git` borrows, where it borrows them. */
function readOnlyAt(directory: string): SandboxBind {
  return { source: directory, target: directory, writable: false };
}
