/* Writes packs of kept blobs and places them in object directories. */
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { absent, writeDurably } from '../../core/base/files.ts';
import { runGit } from './git.ts';
import { restartObjectReaders } from './object-reader.ts';
import type { Scratch } from './scratch.ts';

/**
 * Packs a tree and everything below it, borrowed objects included, into `dir`; returns the name of the pack
 * (`pack-…`).
 */
export async function packTree(scratch: Scratch, tree: string, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const ids = await runGit(scratch, ['rev-list', '--objects', '--no-object-names', tree]);
  // One thread and no deltas: the same objects make the same pack.
  const place: Scratch = {
    ...scratch,
    settings: [...scratch.settings, ['pack.threads', '1'], ['pack.window', '0']],
  };
  const digest = await runGit(place, ['pack-objects', '--quiet', join(dir, 'pack')], { input: ids });
  return `pack-${digest.toString('latin1').trim()}`;
}

/**
 * Copies the files of a pack into another pack directory, unless it is there. git uses a pack as soon as its index
 * exists, so the index comes last.
 */
export async function placePack(name: string, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  if ((await readdir(to)).includes(`${name}.idx`)) return;
  const isIndex = (file: string): boolean => file.endsWith('.idx');
  const files = (await readdir(from)).filter((file) => file.startsWith(`${name}.`));
  for (const file of [...files.filter((one) => !isIndex(one)), ...files.filter(isIndex)])
    await writeDurably(join(to, file), { copyOf: join(from, file) }, 0o444);
}

/** Deletes the files of a pack, the index first, so that no git uses the rest. */
export async function deletePack(name: string, dir: string): Promise<void> {
  await rm(join(dir, `${name}.idx`), { force: true });
  for (const file of await readdir(dir))
    if (file.startsWith(`${name}.`)) await rm(join(dir, file), { force: true });
}

/**
 * Adds an object directory to the alternates of a repository, or removes it; others stay. The path is relative, so
 * that both can be moved.
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
