import { chmod, lstat, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitDirectory } from './git.ts';
import { importObjects } from './import-objects.ts';
import type { Scratch } from './scratch.ts';

/**
 * Moves every object that a scratch made itself into `target` by renaming files, as git moves what was pushed to it:
 * needs no room, cannot stop half-way with litter. Across file systems it copies (`importObjects`). The scratch is of
 * no use afterwards.
 */
export async function adoptObjects(
  scratch: Scratch,
  target: GitDirectory & { readonly objectsDir: string },
): Promise<void> {
  try {
    for (const fan of await readdir(scratch.objectsDir)) {
      if (!/^[0-9a-f]{2}$/.test(fan)) continue;
      const from = join(scratch.objectsDir, fan);
      const names = (await readdir(from)).filter((name) => /^[0-9a-f]{38,62}$/.test(name));
      await moveAll(names, from, join(target.objectsDir, fan));
    }
    const from = join(scratch.objectsDir, 'pack');
    const names = (await readdir(from)).filter((name) => name.startsWith('pack-'));
    // A reader believes in a pack when it sees the index, so that comes last.
    const isIndex = (name: string): boolean => name.endsWith('.idx');
    await moveAll(
      [...names.filter((name) => !isIndex(name)), ...names.filter(isIndex)],
      from,
      join(target.objectsDir, 'pack'),
    );
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EXDEV')) throw fault;
    await importObjects(scratch, target);
  }
}

async function moveAll(names: readonly string[], from: string, to: string): Promise<void> {
  if (names.length === 0) return;
  await makeLikeParent(to);
  for (const name of names) {
    const exists = await lstat(join(to, name)).then(
      () => true,
      () => false,
    );
    if (!exists) await rename(join(from, name), join(to, name));
  }
}

/** In a repository that a group shares, new directories must be as open as the one above them. */
async function makeLikeParent(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true });
  if (made !== undefined) await chmod(dir, (await stat(join(dir, '..'))).mode & 0o7777);
}
