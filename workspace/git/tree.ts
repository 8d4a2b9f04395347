import { WritError } from '../../core/base/errors.ts';
import { describeObjects } from './blobs.ts';
import { type GitDirectory, runGit } from './git.ts';
import { askObjects, keepObjectReaders } from './object-reader.ts';
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

/** A larger tree is listed by a git of its own: it is quicker at that than we are at asking. */
const fewEntries = 2_000;
const fewTrees = 200;
const maxListBytes = 512 * 1024 * 1024;
/** Most paths of a tree that is listed, directories included. */
const maxPaths = 4_000_000;
/** Tree objects that are read to count paths. More are listed at once: reading them takes as long as the listing. */
const maxCountedTrees = 500;

/** Entries of one commit of ours, directories included; a record of a run has some hundred. */
export const maxRecordEntries = 100_000;
const maxRecordDepth = 64;

type Trees = ReadonlyMap<string, readonly RawEntry[]>;

/**
 * Every path under a tree or commit in git's order; `under` limits it to one directory (no trailing slash).
 * INPUT_TOO_LARGE for a few objects that expand to more than `maxPaths` paths.
 */
export async function listTree(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<readonly TreeEntry[]> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  const known = new Map<string, readonly RawEntry[]>();
  const listed = await listSmallTree(place, treeish, under, { entries: fewEntries, trees: fewTrees }, known);
  if (listed !== undefined) return listed;
  await requireFewPaths(place, treeish, under, known);
  return listLargeTree(place, treeish, under);
}

/**
 * Every path of a commit that anyone may have written: a few objects can expand to any number of paths. OBJECT_CORRUPT,
 * which names `ref`, if its tree has more than `maxRecordEntries` entries or is deeper than any record.
 */
export async function listRecordTree(
  place: GitDirectory,
  commit: string,
  ref: string,
): Promise<readonly TreeEntry[]> {
  const limits = { entries: maxRecordEntries, trees: maxRecordEntries, depth: maxRecordDepth };
  const entries = await listSmallTree(place, commit, '', limits);
  if (entries !== undefined) return entries;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`${ref}\` is no record of writ: its tree names more than ${maxRecordEntries} entries, or is more than ${maxRecordDepth} directories deep`,
    detail: { ref, object: commit, maxEntries: maxRecordEntries },
  });
}

interface ListLimits {
  readonly entries: number;
  readonly trees: number;
  readonly depth?: number;
}

/** `undefined` for a tree beyond the limits. The trees that were read are added to `known`. */
async function listSmallTree(
  place: GitDirectory,
  treeish: string,
  under: string,
  limits: ListLimits,
  known: Map<string, readonly RawEntry[]> = new Map(),
): Promise<readonly TreeEntry[] | undefined> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  let entries: readonly Entry[] = [{ path: '', mode: '040000', object: await rootOf(place, treeish) }];
  for (let depth = 0; ; depth += 1) {
    const open = new Set(entries.filter(({ mode }) => isTreeMode(mode)).map(({ object }) => object));
    if (open.size === 0) break;
    if (open.size > limits.trees || depth > (limits.depth ?? depth)) return undefined;
    const trees = await readTrees(place, [...open]);
    for (const [id, tree] of trees) known.set(id, tree);
    const unfolded = unfold(entries, trees, under, limits.entries);
    if (unfolded === undefined) return undefined;
    entries = unfolded;
  }
  const heads = await describeObjects(
    place,
    entries.map(({ object }) => object),
  );
  return entries.map((entry, index) => {
    const head = heads[index];
    // The commit of a submodule may be here by chance.
    return { ...entry, sizeBytes: head?.type === 'blob' ? head.sizeBytes : 0 };
  });
}

/** The names directly in a tree: what tells directories from words in a scope. `under` is a directory, '' the root. */
export async function listNames(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<ReadonlySet<string>> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  const id = await directoryOf(place, treeish, under);
  if (id === undefined) return new Set();
  const entries = (await readTrees(place, [id])).get(id) ?? [];
  return new Set(entries.map(({ name }) => name));
}

/** The id of a directory below a tree or commit; '' is the root, `undefined` if there is no such directory. */
async function directoryOf(place: GitDirectory, treeish: string, under: string): Promise<string | undefined> {
  let id = await rootOf(place, treeish);
  for (const part of under === '' ? [] : under.split('/')) {
    const entries = (await readTrees(place, [id])).get(id) ?? [];
    const next = entries.find(({ name, mode }) => name === part && isTreeMode(mode));
    if (next === undefined) return undefined;
    id = next.object;
  }
  return id;
}

/**
 * Throws INPUT_TOO_LARGE if at most `maxCountedTrees` tree objects expand to more than `maxPaths` paths: git would list
 * them for minutes. The paths are counted, not listed. A tree of more objects is not counted to the end: its listing
 * is bounded by `maxListBytes`.
 */
async function requireFewPaths(
  place: GitDirectory,
  treeish: string,
  under: string,
  known: Map<string, readonly RawEntry[]>,
): Promise<void> {
  const top = await directoryOf(place, treeish, under);
  if (top === undefined) return;
  let paths = 0;
  // How often each tree occurs at one depth.
  let level = new Map([[top, 1]]);
  while (level.size > 0) {
    const unread = [...level.keys()].filter((id) => !known.has(id));
    if (known.size + unread.length > maxCountedTrees) return;
    for (const [id, tree] of await readTrees(place, unread)) known.set(id, tree);
    const counted = countLevel(level, known);
    paths += counted.paths;
    if (paths > maxPaths)
      throw new WritError('INPUT_TOO_LARGE', {
        message: `the tree of \`${treeish}\` expands to more than ${maxPaths} paths`,
        detail: { tree: treeish, maxPaths },
        hints: ['remove the repeated directories from that commit, or use another one'],
      });
    level = counted.below;
  }
}

/** Number of entries in the trees of one depth, and how often each tree occurs at the next. */
function countLevel(
  level: ReadonlyMap<string, number>,
  trees: Trees,
): { readonly paths: number; readonly below: Map<string, number> } {
  const below = new Map<string, number>();
  let paths = 0;
  for (const [id, times] of level) {
    const entries = trees.get(id) ?? [];
    paths += times * entries.length;
    for (const { mode, object } of entries)
      if (isTreeMode(mode)) below.set(object, (below.get(object) ?? 0) + times);
  }
  return { paths, below };
}

/** The entries of trees by id; GIT_FAILED for an id that is none. */
export async function readTrees(
  place: GitDirectory,
  ids: readonly string[],
  names: NameEncoding = 'utf8',
): Promise<Trees> {
  const trees = new Map<string, readonly RawEntry[]>();
  const idBytes = place.objectFormat === 'sha1' ? 20 : 32;
  await askObjects(place, {
    names: ids,
    command: 'contents',
    maxBytes: maxListBytes,
    take(index, object) {
      const id = ids[index] ?? '';
      if (object === undefined) throw absent(id);
      const entries =
        object.type === 'tree' && object.bytes ? parseTree(object.bytes, idBytes, names) : undefined;
      if (entries === undefined) throw unreadable(id);
      trees.set(id, entries);
    },
  });
  return trees;
}

/** Puts what is in each tree where the tree stood; `undefined` where that is not few. */
function unfold(
  entries: readonly Entry[],
  trees: Trees,
  under: string,
  maxEntries: number,
): readonly Entry[] | undefined {
  const unfolded: Entry[] = [];
  for (const entry of entries) {
    const inside = isTreeMode(entry.mode) ? (trees.get(entry.object) ?? []) : undefined;
    if (inside === undefined) unfolded.push(entry);
    for (const { name, mode, object } of inside ?? []) {
      const path = entry.path === '' ? name : `${entry.path}/${name}`;
      const isBelow = under === '' || path === under || path.startsWith(`${under}/`);
      if (isBelow || (isTreeMode(mode) && under.startsWith(`${path}/`)))
        unfolded.push({ path, mode: canonicalMode(mode), object });
      if (unfolded.length > maxEntries) return undefined;
    }
  }
  return unfolded;
}

async function listLargeTree(
  place: GitDirectory,
  treeish: string,
  under: string,
): Promise<readonly TreeEntry[]> {
  const paths = under === '' ? [] : [under];
  const listed = await runGit(
    place,
    ['ls-tree', '-r', '-l', '-z', '--full-tree', '--end-of-options', treeish, ...paths],
    { maxBytes: maxListBytes },
  );
  const entries: TreeEntry[] = [];
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at);
    const tab = listed.indexOf(9, at);
    if (end < 0 || tab < 0 || tab > end) break;
    const [mode = '', , object = '', size = ''] = listed.toString('latin1', at, tab).split(/ +/);
    entries.push({
      path: listed.toString('utf8', tab + 1, end),
      mode,
      object,
      sizeBytes: Number.parseInt(size, 10) || 0,
    });
    at = end + 1;
  }
  return entries;
}

async function rootOf(place: GitDirectory, treeish: string): Promise<string> {
  const [root, named] = await describeObjects(place, [`${treeish}^{tree}`, treeish]);
  if (root?.type === 'tree') return root.id;
  if (named === undefined) throw absent(treeish);
  // A commit has a tree.
  if (named.type === 'commit') throw absent(`${treeish}^{tree}`);
  throw unreadable(treeish);
}

/** A ref may have come without what it names: a copy that was cut short, a store that was pruned. */
function absent(object: string): WritError {
  return new WritError('GIT_FAILED', {
    message: `expected the object \`${object}\`, it is not in this repository`,
    detail: { absent: object },
  });
}

function unreadable(tree: string): WritError {
  return new WritError('GIT_FAILED', {
    message: `expected a tree, \`${tree}\` is none or cannot be read`,
    detail: { tree },
  });
}
