/* Finds the hooks that git would run in a repository. */
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPlain } from '../../core/base/files.ts';
import { askGit, scopedSettings } from './git.ts';
import type { Repository } from './repository.ts';

/** In each hook that `writ hook install` writes. */
export const hookMark = '# made by `writ hook install`';
/** Where a hook that was there before is kept. */
export const keptEnding = '.before-writ';
export const maxHookBytes = 1024 * 1024;

/** `core.hooksPath`, relative to the working tree; else that of the repository, shared by its working trees. */
export async function hooksDirectory(repository: Repository): Promise<string> {
  const own = join(repository.commonDir, 'hooks');
  if (repository.hasHooksPath === false) return own;
  const args = ['config', '-z', '--show-scope', '--type=path', '--get-regexp', '^core\\.hookspath$'];
  const { stdout } = await askGit(repository, args);
  const path = scopedSettings(stdout).at(-1)?.value;
  return path ? resolve(repository.root, path) : own;
}

/** Of these hooks, those that git would run: executable files. One of writ alone does not count. */
export async function findHooks(
  repository: Repository,
  names: readonly string[],
): Promise<readonly string[]> {
  const directory = await hooksDirectory(repository);
  return names.filter((name) => {
    const path = join(directory, name);
    if (!isProgram(path)) return false;
    const isOurs = readPlain(path, maxHookBytes).bytes?.includes(hookMark) === true;
    return !isOurs || isProgram(`${path}${keptEnding}`);
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
