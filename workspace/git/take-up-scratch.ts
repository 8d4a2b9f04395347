import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { importRehashed } from './import-objects.ts';
import { type Borrowable, createScratch, type Scratch } from './scratch.ts';

/**
 * Makes a scratch at `dir` with the objects that an earlier process left there, each under the id that its content has:
 * one that was changed meanwhile is not there any more. Nothing else of what lies there is taken over, its config and
 * hooks least of all. OBJECT_CORRUPT where git cannot read what lies there.
 */
export async function takeUpScratch(dir: string, over: Borrowable): Promise<Scratch> {
  const before = `${dir}-before`;
  // What stands beside an earlier process's copy came from there.
  if (await exists(before)) await rm(dir, { recursive: true, force: true });
  else if (await exists(dir)) await rename(dir, before);
  const scratch = await createScratch(dir, over);
  if (!(await exists(before))) return scratch;
  try {
    await importRehashed(join(before, 'objects'), scratch);
  } catch (cause) {
    throw new WritError('OBJECT_CORRUPT', {
      message: 'what the run kept of its candidates cannot be read',
      detail: { path: before },
      cause,
    });
  }
  await rm(before, { recursive: true, force: true });
  return scratch;
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
