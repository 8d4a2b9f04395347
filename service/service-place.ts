import { basename, dirname, join, resolve } from 'node:path';
import { askGit } from '../core/vcs/git.ts';
import type { Repository } from '../core/vcs/repository.ts';

/** Where the one service of a repository keeps its files, the same for all of its work trees. */
export interface ServicePlace {
  /** Exists; the segments below it may not. */
  readonly root: string;
  readonly segments: readonly string[];
  readonly directory: string;
  readonly discovery: string;
  readonly token: string;
  readonly lock: string;
  readonly database: string;
}

/**
 * `.writ/service` of the main work tree (document 3). A bare repository, or one whose git directory stands elsewhere, has no main work tree that
 * all others can find: there it is `writ/service` in the git directory.
 */
export async function findServicePlace(repository: Repository): Promise<ServicePlace> {
  const main = await mainWorkTree(repository);
  const root = main ?? repository.commonDir;
  const segments = main === undefined ? ['writ', 'service'] : ['.writ', 'service'];
  const directory = join(root, ...segments);
  return {
    root,
    segments,
    directory,
    discovery: join(directory, 'service.json'),
    token: join(directory, 'service-token'),
    lock: join(directory, 'service.lock'),
    database: join(directory, 'service.db'),
  };
}

/** By the shared git directory alone, so that every work tree gives the same answer. */
async function mainWorkTree(repository: Repository): Promise<string | undefined> {
  const { commonDir } = repository;
  const file = join(commonDir, 'config');
  const read = async (type: readonly string[], key: string): Promise<string | undefined> => {
    const { code, stdout } = await askGit(repository, [
      'config',
      '--file',
      file,
      ...type,
      '-z',
      '--get',
      key,
    ]);
    return code === 0 ? stdout.toString('utf8').split('\0')[0] : undefined;
  };
  if ((await read(['--type=bool'], 'core.bare')) === 'true') return undefined;
  const named = await read([], 'core.worktree');
  if (named !== undefined) return resolve(commonDir, named);
  return basename(commonDir) === '.git' ? dirname(commonDir) : undefined;
}
