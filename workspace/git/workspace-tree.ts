import { chmod, copyFile, lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type GitDirectory, gitLine, runGit } from './git.ts';
import type { Scratch } from './scratch.ts';

/** A workspace whose content can be taken as a tree, later, whatever was done in it. */
export interface TreeOfWorkspace {
  /**
   * The tree that the directory holds now, in the scratch: byte for byte, without what its `.gitignore`s name and the
   * base does not track. Nothing else in the directory has a say: not its `.git`, attributes or configuration.
   */
  take(): Promise<string>;
}

/** To be called while the directory is as it was exported; `index` is a file outside of it. */
export async function rememberWorkspace(
  scratch: Scratch,
  directory: string,
  tree: string,
  index: string,
): Promise<TreeOfWorkspace> {
  await rm(index, { force: true });
  const place: GitDirectory = {
    ...scratch,
    cwd: directory,
    env: { ...scratch.env, GIT_WORK_TREE: directory, GIT_INDEX_FILE: index },
    settings: [...scratch.settings, ['core.trustctime', 'true'], ['core.checkstat', 'default']],
  };
  // What it knows of sizes and times spares reading every file again.
  const isKnown = await copyFile(join(directory, '.git', 'index'), index).then(
    () => true,
    () => false,
  );
  return {
    async take() {
      if ((await lstat(directory)).isDirectory()) await chmod(directory, 0o755);
      // Not before it is asked for: most workers answer a patch, and need no git for this.
      if (!isKnown) await runGit(place, ['read-tree', tree]);
      await runGit(place, ['add', '--all', '--', '.']);
      return gitLine(place, ['write-tree']);
    },
  };
}
