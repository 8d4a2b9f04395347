import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WritError } from '../../../core/base/errors.ts';
import { ownerFile } from './run-litter.ts';

/** Where the workspaces of a run are: found again by a later process of the same user on the same machine. */
export function privateRootOf(runId: string): string {
  return join(tmpdir(), `writ-run-${runId}`);
}

/**
 * Makes it, mode 0700, or takes it up again. A link, a file or a directory of another user in its place is
 * WORKSPACE_UNSAFE.
 */
export async function openPrivateRoot(runId: string, commonDir: string): Promise<string> {
  const path = privateRootOf(runId);
  await mkdir(path, { mode: 0o700 }).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EEXIST') throw fault;
  });
  const found = await lstat(path);
  const own = process.getuid === undefined || found.uid === process.getuid();
  if (found.isDirectory() && own && (found.mode & 0o077) === 0) {
    await writeFile(join(path, ownerFile), commonDir, { mode: 0o600 });
    return path;
  }
  throw new WritError('WORKSPACE_UNSAFE', {
    message: `expected \`${path}\` to be a directory of yours that nobody else can enter`,
    detail: { path },
    hints: ['remove it, or set TMPDIR to a directory of your own'],
  });
}
