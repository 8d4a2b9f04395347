import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { absent, writeDurably } from '../../core/base/files.ts';
import { restartObjectReaders } from './object-reader.ts';

/**
 * Makes an object directory an alternate of a repository, or stops that; other alternates stay. Relative, so that both
 * may be moved.
 */
export async function setAlternate(objectsDir: string, dir: string, present: boolean): Promise<void> {
  const path = join(objectsDir, 'info', 'alternates');
  const line = relative(await realpath(objectsDir), await realpath(dir));
  const before = ((await readFile(path, 'utf8').catch(absent)) ?? '').split('\n').filter((one) => one !== '');
  if (before.includes(line) === present) return;
  const after = present ? [...before, line] : before.filter((one) => one !== line);
  if (after.length === 0) await rm(path, { force: true });
  else {
    await mkdir(join(objectsDir, 'info'), { recursive: true });
    await writeDurably(path, `${after.join('\n')}\n`, 0o644);
  }
  await restartObjectReaders();
}
