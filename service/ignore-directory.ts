import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keeps the directory, and this file in it, out of what git calls untracked; an existing `.gitignore` there is left as it is. */
export async function ignoreDirectory(directory: string): Promise<void> {
  await writeFile(join(directory, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(
    (fault: NodeJS.ErrnoException) => {
      if (fault.code !== 'EEXIST') throw fault;
    },
  );
}
