import { lstat, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { threadDirectory } from './open-thread.ts';

/** What lies where threads are kept. */
export interface ThreadIds {
  /** Sorted. */
  readonly ids: readonly string[];
  /** Names of links, files and directories that are no thread's. */
  readonly strangers: readonly string[];
}

/** Where the threads of a repository are. */
export function threadsRoot(repository: Pick<Repository, 'commonDir'>): string {
  return dirname(threadDirectory(repository, 'any'));
}

/**
 * Every thread of a repository, by the names of their directories; none where there never was one. STORAGE_PATH_INVALID
 * where a link, or anything but a directory, stands in their place.
 */
export async function listThreadIds(repository: Pick<Repository, 'commonDir'>): Promise<ThreadIds> {
  const root = threadsRoot(repository);
  const found = await lstat(root).catch(absent);
  if (found === undefined) return { ids: [], strangers: [] };
  if (!found.isDirectory())
    throw new WritError('STORAGE_PATH_INVALID', {
      message: `expected \`${root}\` to be a directory of its own: what lies there leads elsewhere`,
      detail: { path: root },
    });
  const ids: string[] = [];
  const strangers: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const id = entry.isDirectory() ? idOf(entry.name) : undefined;
    if (id === undefined) strangers.push(entry.name);
    else ids.push(id);
  }
  return { ids: ids.sort(), strangers: strangers.sort() };
}

function idOf(name: string): string | undefined {
  try {
    const id = decodeURIComponent(name);
    return encodeId(id) === name && !id.includes('\0') ? id : undefined;
  } catch {
    return undefined;
  }
}
