import { WritError } from '../base/errors.ts';
import { describeObjects } from './blobs.ts';
import type { GitDirectory } from './git.ts';
import { askObjects } from './object-reader.ts';
import { canonicalMode, isTreeMode, type NameEncoding, parseTree, type RawEntry } from './tree-object.ts';

/** One path of a tree. `mode` is six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule). */
export interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
  /** Bytes of the blob; 0 for a submodule. */
  readonly sizeBytes: number;
}

type Entry = Omit<TreeEntry, 'sizeBytes'>;

const treeMode = '040000';
const submoduleMode = '160000';
const maxListBytes = 512 * 1024 * 1024;
/** Of an entry beside its path, as a listing would spell it. */
const entryBytes = 64;

/** Every path under a tree or commit in git's order; `under` limits it to one directory (no trailing slash). OUTPUT_TOO_LARGE beyond 512 MiB. */
export async function listTree(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<readonly TreeEntry[]> {
  const root: Entry = { path: '', mode: treeMode, object: await rootOf(place, treeish) };
  let entries: readonly Entry[] = [root];
  for (;;) {
    const open = new Set(entries.filter(({ mode }) => mode === treeMode).map(({ object }) => object));
    if (open.size === 0) break;
    entries = unfold(entries, await readTrees(place, [...open]), under);
  }
  const blobs = entries.filter(({ mode }) => mode !== submoduleMode).map(({ object }) => object);
  const ids = [...new Set(blobs)];
  const heads = await describeObjects(place, ids);
  const sizes = new Map(ids.map((id, index) => [id, heads[index]?.sizeBytes ?? 0]));
  return entries.map((entry) => ({ ...entry, sizeBytes: sizes.get(entry.object) ?? 0 }));
}

/** The names directly in a tree: what tells directories from words in a scope. `under` is a directory, '' the root. */
export async function listNames(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<ReadonlySet<string>> {
  let id = await rootOf(place, treeish);
  for (const part of under === '' ? [] : under.split('/')) {
    const entries = (await readTrees(place, [id])).get(id) ?? [];
    const next = entries.find(({ name, mode }) => name === part && isTreeMode(mode));
    if (next === undefined) return new Set();
    id = next.object;
  }
  const entries = (await readTrees(place, [id])).get(id) ?? [];
  return new Set(entries.map(({ name }) => name));
}

/** Puts what is in each tree where the tree stood. */
function unfold(
  entries: readonly Entry[],
  trees: ReadonlyMap<string, readonly RawEntry[]>,
  under: string,
): readonly Entry[] {
  const unfolded: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const inside =
      entry.mode === treeMode
        ? (trees.get(entry.object) ?? []).map(({ name, mode, object }) => ({
            path: entry.path === '' ? name : `${entry.path}/${name}`,
            mode: canonicalMode(mode),
            object,
          }))
        : [entry];
    for (const one of inside) {
      const isBelow = under === '' || one.path === under || one.path.startsWith(`${under}/`);
      if (!isBelow && !(one.mode === treeMode && under.startsWith(`${one.path}/`))) continue;
      // A few small trees can name each other so often that their paths fill any memory.
      bytes += one.path.length + entryBytes;
      if (bytes > maxListBytes)
        throw new WritError('OUTPUT_TOO_LARGE', {
          message: `the paths of a tree take more than ${maxListBytes} bytes`,
          detail: { maxBytes: maxListBytes },
        });
      unfolded.push(one);
    }
  }
  return unfolded;
}

async function rootOf(place: GitDirectory, treeish: string): Promise<string> {
  const [root] = await describeObjects(place, [`${treeish}^{tree}`]);
  if (root?.type === 'tree') return root.id;
  throw unreadable(treeish);
}

/** The entries of trees by id; GIT_FAILED for an id that is none. */
export async function readTrees(
  place: GitDirectory,
  ids: readonly string[],
  names: NameEncoding = 'utf8',
): Promise<ReadonlyMap<string, readonly RawEntry[]>> {
  const trees = new Map<string, readonly RawEntry[]>();
  const idBytes = place.objectFormat === 'sha1' ? 20 : 32;
  await askObjects(place, {
    names: ids,
    command: 'contents',
    maxBytes: maxListBytes,
    take(index, object) {
      const id = ids[index] ?? '';
      const entries =
        object?.type === 'tree' && object.bytes ? parseTree(object.bytes, idBytes, names) : undefined;
      if (entries === undefined) throw unreadable(id);
      trees.set(id, entries);
    },
  });
  return trees;
}

function unreadable(tree: string): WritError {
  return new WritError('GIT_FAILED', {
    message: `expected a tree, \`${tree}\` is none or cannot be read`,
    detail: { tree },
  });
}
