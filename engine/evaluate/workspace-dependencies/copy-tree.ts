import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Copies one file or directory from `fromRoot` to the same path under `toRoot`. Links are copied as links and never
 * followed, also on the way to `path`. Returns `false` if `path` does not exist. Throws on a link on the way and on
 * special files.
 */
export async function copyTree(fromRoot: string, toRoot: string, path: string): Promise<boolean> {
  const segments = path.split('/');
  for (let count = 1; count <= segments.length; count += 1) {
    const part = segments.slice(0, count).join('/');
    const status = await lstat(join(fromRoot, part)).catch(() => undefined);
    if (status === undefined) return false;
    if (count === segments.length) break;
    if (!status.isDirectory()) throw new Error(`\`${part}\` is not a directory`);
    await mkdir(join(toRoot, part), { recursive: true });
  }
  const pending = [path];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const from = join(fromRoot, next);
    const to = join(toRoot, next);
    const status = await lstat(from);
    if (status.isDirectory()) {
      await mkdir(to, { recursive: true });
      for (const name of await readdir(from)) pending.push(`${next}/${name}`);
    } else if (status.isFile()) await copyFile(from, to, constants.COPYFILE_FICLONE);
    else if (status.isSymbolicLink()) await symlink(await readlink(from), to);
    else throw new Error(`\`${next}\` is neither a file, a directory nor a link`);
  }
  return true;
}
