import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { type SandboxRequest, workspaceInside } from '../../core/contract/sandbox.ts';
import { forwarderInside, wayInside } from '../../engine/tool/egress/inside.ts';
import { isInside } from '../../engine/tool/inside.ts';

export const reportsInside = '/reports';
/** The private home directory inside. */
export const homeInside = '/home/check';

// Synchronous throughout: a handful of stats before a fork cost less than the way through the thread pool.

/** One bind of a request: resolved source, target inside. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
}

/** What a request with a way out shows, read-only: the proxy's socket, and the Node that runs us to lead to it. */
export function egressMounts({ network }: SandboxRequest): readonly (Omit<Mount, 'writable'> & {
  readonly isFile: boolean;
})[] {
  if (typeof network !== 'object') return [];
  return [
    { source: realpathSync(process.execPath), target: forwarderInside, isFile: true },
    { source: directory(network.way), target: wayInside, isFile: false },
  ];
}

const reservedTargets = ['/proc', '/dev', '/sys', '/egress'];

/**
 * The request's binds in mount order, with `.git` of the workspace read-only. Sources are resolved; a target that runs
 * through a symlink of the workspace is refused (SANDBOX_UNSAFE), because the mount would land where the link points.
 */
export function mountsOf(request: SandboxRequest): readonly Mount[] {
  const workspace = directory(request.workspace);
  const mounts: Mount[] = [
    { source: workspace, target: workspaceInside, writable: true },
    { source: directory(request.reports), target: reportsInside, writable: true },
  ];
  const git = kindOf(path.join(workspace, '.git'));
  if (git === 'symlink') throw unsafe('`.git` of the workspace is a symlink', { workspace });
  if (git !== 'absent')
    mounts.push({ source: path.join(workspace, '.git'), target: `${workspaceInside}/.git`, writable: false });
  for (const bind of request.binds) {
    const target = path.posix.normalize(bind.target).replace(/(?<=.)\/+$/, '');
    if (
      !path.posix.isAbsolute(target) ||
      target === '/' ||
      reservedTargets.some((root) => isInside(root, target))
    ) {
      throw unsafe(`a bind cannot cover \`${bind.target}\``, { target: bind.target });
    }
    if (isInside(workspaceInside, target))
      refuseSymlinks(workspace, path.posix.relative(workspaceInside, target));
    mounts.push({ source: realpathSync(bind.source), target, writable: bind.writable });
  }
  return mounts;
}

function refuseSymlinks(workspace: string, relative: string): void {
  let current = workspace;
  for (const part of relative.split('/')) {
    current = path.join(current, part);
    const kind = kindOf(current);
    if (kind === 'absent') return;
    if (kind === 'symlink')
      throw unsafe(`\`${relative}\` runs through a symlink of the workspace`, { target: relative });
  }
}

function directory(file: string): string {
  const real = realpathSync(file);
  if (kindOf(real) !== 'directory') throw unsafe(`\`${file}\` is not a directory`, { path: file });
  return real;
}

function kindOf(file: string): 'absent' | 'symlink' | 'directory' | 'other' {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 'absent';
  return stat.isSymbolicLink() ? 'symlink' : stat.isDirectory() ? 'directory' : 'other';
}

function unsafe(message: string, detail: Record<string, unknown>): WritError {
  return new WritError('SANDBOX_UNSAFE', { message, detail });
}
