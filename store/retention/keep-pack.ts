import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, writeDurably } from '../../core/base/files.ts';
import { packTree, placePack } from '../../workspace/git/place-pack.ts';
import type { BlobRetention, RetainedRun } from './blob-retention.ts';

/**
 * A pack under a `.keep` file, which `git gc` respects. The file names the runs that need the pack and their tree: the
 * same blobs are the same pack. No ref: it does not travel.
 */
export const keepPack: BlobRetention = {
  merges: false,
  async trees(run) {
    const dir = packDirectory(run);
    const names = new Set(await readdir(dir));
    const trees: string[] = [];
    for (const file of names) {
      // A write that was stopped early left its mark without a pack.
      if (!isMark(file) || !names.has(file.replace(/\.keep$/, '.idx'))) continue;
      const tree = (await readMark(join(dir, file))).get(run.name);
      if (tree !== undefined) trees.push(tree);
    }
    return trees;
  },
  async keep(run, { scratch, tree }) {
    const made = join(scratch.gitDir, 'made');
    const pack = await packTree(scratch, tree, made);
    const mark = join(packDirectory(run), `${pack}.keep`);
    await writeMark(mark, new Map([...(await readMark(mark)), [run.name, tree]]));
    await placePack(pack, made, packDirectory(run));
  },
  async release(run) {
    const dir = packDirectory(run);
    for (const file of (await readdir(dir)).filter(isMark)) {
      const runs = await readMark(join(dir, file));
      if (!runs.has(run.name)) continue;
      const others = new Map([...runs].filter(([name]) => name !== run.name));
      // The mark alone goes: something else may have come to need an object that is in this pack only, and git sorts
      // that out.
      if (others.size === 0) await rm(join(dir, file), { force: true });
      else await writeMark(join(dir, file), others);
    }
  },
};

function packDirectory({ repository }: RetainedRun): string {
  return join(repository.objectsDir, 'pack');
}

function isMark(file: string): boolean {
  return file.startsWith('pack-') && file.endsWith('.keep');
}

/** Run → tree; empty for a mark of somebody else's. */
async function readMark(path: string): Promise<ReadonlyMap<string, string>> {
  const text = (await readFile(path, 'utf8').catch(absent)) ?? '';
  const lines = text.matchAll(/^writ (\S+) ([0-9a-f]{40,64})$/gm);
  return new Map([...lines].map(([, name = '', tree = '']) => [name, tree]));
}

async function writeMark(path: string, runs: ReadonlyMap<string, string>): Promise<void> {
  await writeDurably(path, [...runs].map(([name, tree]) => `writ ${name} ${tree}\n`).join(''), 0o444);
}
