import { link, lstat, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomOctets } from '../../core/base/ids.ts';

/** Makes a file whole and durable, or leaves the one that is there. */
export async function createOnce(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  if (await isThere(path)) return;
  const draft = join(dirname(path), `.draft-${randomOctets(8).toString('hex')}`);
  const file = await open(draft, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
  } finally {
    await rm(draft, { force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (fault: NodeJS.ErrnoException) => {
      if (fault.code === 'ENOENT') return false;
      throw fault;
    },
  );
}
