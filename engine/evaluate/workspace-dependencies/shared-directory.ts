import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type DirectoryDigest, digestDirectory } from '../../../workspace/git/directory-digest.ts';
import { isInside } from '../../../workspace/process/find-program.ts';

export interface ShareRequest {
  /** Repository-relative directory to share. */
  readonly directory: string;
  readonly worktree: string;
  readonly lockfile: string;
  readonly lockfileAtBase: Uint8Array | undefined;
  readonly lockfileAtCandidate: Uint8Array | undefined;
  /** True only if git ignores the path and tracks no file at or under it. */
  isIgnored(path: string): Promise<boolean>;
  readonly signal?: AbortSignal;
}

export type ShareRefusal =
  | 'lockfile-missing'
  | 'lockfile-differs'
  | 'directory-missing'
  | 'escapes-worktree'
  | 'not-ignored'
  | 'not-describable'
  | 'program-unseen';

type ShareOutcome =
  | { readonly source: string; readonly digest: Exclude<DirectoryDigest, { fault: string }> }
  | { readonly refusal: ShareRefusal; readonly message: string };

export const directoryLimits = { maxEntries: 1_000_000, maxBytes: 16 * 2 ** 30 } as const;
const maxLockfileBytes = 64 * 2 ** 20;

/**
 * Finds an ignored directory of the user's working tree that may replace the candidate's own dependencies. The
 * lockfile on disk, at base and in the candidate must be equal. Every refusal is a return value.
 */
export async function openSharedDirectory(request: ShareRequest): Promise<ShareOutcome> {
  const { directory, lockfile, lockfileAtBase, lockfileAtCandidate } = request;
  const refuse = (refusal: ShareRefusal, message: string): ShareOutcome => ({
    refusal,
    message: `\`${directory}\` is not shared: ${message}`,
  });
  const worktree = await realpath(request.worktree);

  if (lockfileAtBase === undefined)
    return refuse('lockfile-missing', `\`${lockfile}\` is not in the base commit`);
  if (lockfileAtCandidate === undefined)
    return refuse('lockfile-missing', `the change removes \`${lockfile}\``);
  if (!Buffer.from(lockfileAtBase).equals(lockfileAtCandidate)) {
    return refuse('lockfile-differs', `the change alters \`${lockfile}\``);
  }
  const onDisk = await readInside(worktree, lockfile);
  if (onDisk === undefined) return refuse('lockfile-missing', `\`${lockfile}\` is not in the working tree`);
  if (!onDisk.equals(lockfileAtBase)) {
    return refuse('lockfile-differs', `\`${lockfile}\` in the working tree differs from the base commit`);
  }

  const source = await realpath(join(worktree, directory)).catch(() => undefined);
  if (source === undefined || !(await stat(source)).isDirectory()) {
    return refuse('directory-missing', 'there is no such directory in the working tree');
  }
  if (!isInside(worktree, source) || source === worktree) {
    return refuse('escapes-worktree', 'it leads out of the working tree');
  }
  const real = relative(worktree, source).split(sep).join('/');
  for (const path of new Set([directory, real])) {
    if (!(await request.isIgnored(path)))
      return refuse('not-ignored', `git tracks \`${path}\` or does not ignore it`);
  }

  const digest = await digestDirectory(source, {
    within: worktree,
    ...directoryLimits,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  return 'fault' in digest ? refuse('not-describable', digest.fault) : { source, digest };
}

async function readInside(worktree: string, path: string): Promise<Buffer | undefined> {
  const real = await realpath(join(worktree, path)).catch(() => undefined);
  if (real === undefined || !isInside(worktree, real)) return undefined;
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    return status.isFile() && status.size <= maxLockfileBytes ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
