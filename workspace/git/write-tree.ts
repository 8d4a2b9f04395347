import type { GitDirectory } from './git.ts';
import { writeLooseObject } from './loose-object.ts';
import type { Scratch } from './scratch.ts';
import { readTrees } from './tree.ts';
import { isTreeMode, type RawEntry } from './tree-object.ts';

/** Where a tree is changed: what was there is read from `from`, what is new is written to `to`. */
export interface TreePlace {
  readonly from: GitDirectory;
  readonly to: Scratch;
}

/** One directory on its way to become a tree; names are bytes (latin1), as git sorts them. */
interface Folder {
  readonly entries: Map<string, RawEntry>;
  /** Those below that were looked into. */
  readonly folders: Map<string, Folder>;
}

const treeMode = '040000';

/** What shall stand at a path: an object by its id, a plain file where no mode is said; `undefined` for nothing. */
export type TreeLeaf = string | { readonly mode: string; readonly object: string } | undefined;

/**
 * Writes the trees of files on top of the tree `over`, where given; answers the root's id. A file takes the place of
 * whatever stands at its path, or where a directory of its path is needed. What shall be nothing is taken away first,
 * where it is no directory; it leaves none empty.
 */
export async function writeTree(
  place: TreePlace,
  files: ReadonlyMap<string, TreeLeaf>,
  over: string | undefined,
): Promise<string> {
  const root = await openFolder(place, over);
  for (const [path, leaf] of files) if (leaf === undefined) await takeAway(place, root, partsOf(path));
  for (const [path, leaf] of files) {
    if (leaf === undefined) continue;
    const parts = partsOf(path);
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) folder = await enter(place, folder, part);
    folder.folders.delete(name);
    const { mode, object } = typeof leaf === 'string' ? { mode: '100644', object: leaf } : leaf;
    folder.entries.set(name, { name, mode, object });
  }
  return (await writeFolder(place, root)) ?? writeLooseObject(place.to, emptyTree, true);
}

const emptyTree = { type: 'tree', bytes: Buffer.alloc(0) } as const;

function partsOf(path: string): string[] {
  return Buffer.from(path).toString('latin1').split('/');
}

async function takeAway(place: TreePlace, root: Folder, parts: string[]): Promise<void> {
  const name = parts.pop() ?? '';
  let folder = root;
  for (const part of parts) {
    const standing = folder.entries.get(part);
    if (!folder.folders.has(part) && !(standing && isTreeMode(standing.mode))) return;
    folder = await enter(place, folder, part);
  }
  const standing = folder.entries.get(name);
  if (standing && !isTreeMode(standing.mode)) folder.entries.delete(name);
}

async function enter(place: TreePlace, folder: Folder, name: string): Promise<Folder> {
  const opened = folder.folders.get(name);
  if (opened) return opened;
  const standing = folder.entries.get(name);
  const below = await openFolder(place, standing && isTreeMode(standing.mode) ? standing.object : undefined);
  folder.entries.delete(name);
  folder.folders.set(name, below);
  return below;
}

async function openFolder({ from }: TreePlace, id: string | undefined): Promise<Folder> {
  const read = id === undefined ? [] : ((await readTrees(from, [id], 'latin1')).get(id) ?? []);
  return { entries: new Map(read.map((entry) => [entry.name, entry])), folders: new Map() };
}

/** `undefined` for one in which nothing is left. */
async function writeFolder(place: TreePlace, { entries, folders }: Folder): Promise<string | undefined> {
  const all = [...entries.values()];
  for (const [name, folder] of folders) {
    const object = await writeFolder(place, folder);
    if (object !== undefined) all.push({ name, mode: treeMode, object });
  }
  if (all.length === 0) return undefined;
  // Git sorts a directory as if its name ended in a slash.
  const keyOf = ({ name, mode }: RawEntry): string => (isTreeMode(mode) ? `${name}/` : name);
  all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const bytes = all.flatMap(({ name, mode, object }) => [
    Buffer.from(`${mode.replace(/^0+/, '')} ${name}\0`, 'latin1'),
    Buffer.from(object, 'hex'),
  ]);
  return writeLooseObject(place.to, { type: 'tree', bytes: Buffer.concat(bytes) }, true);
}
