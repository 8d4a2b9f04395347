import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, isDraft, writeDurably } from '../../core/base/files.ts';
import { setAlternate } from '../../workspace/git/alternate.ts';
import { deletePack, packTree, placePack } from '../../workspace/git/place-pack.ts';
import type { BlobRetention, RetainedRun } from './blob-retention.ts';

/**
 * Packs in an object directory of ours, `<git-common-dir>/writ/blobs`, that the repository borrows from: `git gc` does
 * not clean there, only `writ gc` does. `runs/<run>/<pack>` in it holds the run's tree. No ref: it does not travel.
 */
export const customGc: BlobRetention = {
  merges: false,
  async trees(run) {
    const { marks } = placesOf(run);
    const trees: string[] = [];
    for (const pack of await namesIn(join(marks, run.name)))
      trees.push((await readFile(join(marks, run.name, pack), 'utf8')).trim());
    return trees;
  },
  async keep(run, { scratch, tree }) {
    const made = join(scratch.gitDir, 'made');
    const pack = await packTree(scratch, tree, made);
    const { dir, packs, marks } = placesOf(run);
    await mkdir(join(marks, run.name), { recursive: true, mode: 0o700 });
    await placePack(pack, made, packs);
    await setAlternate(run.repository.objectsDir, dir, true);
    await writeDurably(join(marks, run.name, pack), `${tree}\n`);
  },
  async release(run) {
    const { dir, packs, marks } = placesOf(run);
    const released = await namesIn(join(marks, run.name));
    if (released.length === 0) return;
    const needed = new Set<string>();
    for (const other of await namesIn(marks))
      if (other !== run.name) for (const pack of await namesIn(join(marks, other))) needed.add(pack);
    for (const pack of released) {
      // Handed over, not deleted: git does not write what it finds here, so a commit made since may need an object of
      // this pack.
      await placePack(pack, packs, join(run.repository.objectsDir, 'pack'));
      if (!needed.has(pack)) await deletePack(pack, packs);
    }
    if (needed.size === 0) await setAlternate(run.repository.objectsDir, dir, false);
    await rm(join(marks, run.name), { recursive: true, force: true });
  },
};

interface Places {
  readonly dir: string;
  readonly packs: string;
  readonly marks: string;
}

function placesOf({ repository }: RetainedRun): Places {
  const dir = join(repository.commonDir, 'writ', 'blobs');
  return { dir, packs: join(dir, 'pack'), marks: join(dir, 'runs') };
}

async function namesIn(dir: string): Promise<readonly string[]> {
  return ((await readdir(dir).catch(absent)) ?? []).filter((name) => !isDraft(name));
}
