import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../core/base/files.ts';
import { runGit } from './git.ts';
import type { Scratch } from './scratch.ts';

/**
 * Packs a tree and all that is in it, also what the scratch only borrows, into `dir`; answers the pack's name
 * (`pack-…`).
 */
export async function packTree(scratch: Scratch, tree: string, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const ids = await runGit(scratch, ['rev-list', '--objects', '--no-object-names', tree]);
  // Alone and without deltas: the same objects make the same pack.
  const place: Scratch = {
    ...scratch,
    settings: [...scratch.settings, ['pack.threads', '1'], ['pack.window', '0']],
  };
  const digest = await runGit(place, ['pack-objects', '--quiet', join(dir, 'pack')], { input: ids });
  return `pack-${digest.toString('latin1').trim()}`;
}

/**
 * Copies the files of a pack into another pack directory, unless it is there. A reader believes in a pack when it sees
 * the index, so that comes last.
 */
export async function placePack(name: string, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  if ((await readdir(to)).includes(`${name}.idx`)) return;
  const isIndex = (file: string): boolean => file.endsWith('.idx');
  const files = (await readdir(from)).filter((file) => file.startsWith(`${name}.`));
  for (const file of [...files.filter((one) => !isIndex(one)), ...files.filter(isIndex)])
    await writeDurably(join(to, file), { copyOf: join(from, file) }, 0o444);
}

/** Deletes the files of a pack; the index first, so that nobody believes in the rest. */
export async function deletePack(name: string, dir: string): Promise<void> {
  await rm(join(dir, `${name}.idx`), { force: true });
  for (const file of await readdir(dir))
    if (file.startsWith(`${name}.`)) await rm(join(dir, file), { force: true });
}
