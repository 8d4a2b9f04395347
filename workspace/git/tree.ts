/* Lists trees, bounded also for trees that expand to any number of paths. */
import { WritError } from '../../core/base/errors.ts';
import { askGit, type GitDirectory, maxListBytes, runGit } from './git.ts';
import { canonicalMode, isTreeMode, type NameEncoding, parseTree, type RawEntry } from './git-object.ts';
import { askObjects, keepObjectReaders } from './object-reader.ts';
import { describeObjects } from './read-objects.ts';

/** One path of a tree. `mode` is six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule). */
export interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
  /** Bytes of the blob; 0 for a submodule. */
  readonly sizeBytes: number;
}

type Entry = Omit<TreeEntry, 'sizeBytes'>;

/** git lists a larger tree faster itself. */
const fewEntries = 2_000;
const fewTrees = 200;
const maxPaths = 4_000_000;
/** A tree with more objects is listed directly: reading its objects is not faster than the listing. */
const maxCountedTrees = 500;

/** Most entries of a record, directories included; a usual one has some hundred. */
export const maxRecordEntries = 100_000;
const maxRecordDepth = 64;

type Trees = ReadonlyMap<string, readonly RawEntry[]>;

/**
 * Every path below a tree or commit in git's order; `under` limits it to one directory (no trailing slash).
 * INPUT_TOO_LARGE for a few objects that expand to more than `maxPaths` paths.
 */
export async function listTree(
  place: GitDirectory,
  treeish: string,
  under = '',
): Promise<readonly TreeEntry[]> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  const listed = await listSmallTree(place, treeish, under, { entries: fewEntries, trees: fewTrees });
  if (listed !== undefined) return listed;
  const top = await directoryOf(place, treeish, under);
  // git would list a few objects that expand to any number of paths for minutes. The listing of more objects is bounded
  // by its size.
  const paths = top === undefined ? 0 : await countChangedPaths(place, '', top, maxCountedTrees);
  if (paths !== undefined && paths > maxPaths)
    throw new WritError('INPUT_TOO_LARGE', {
      message: `the tree of \`${treeish}\` expands to more than ${maxPaths} paths`,
      detail: { tree: treeish, maxPaths },
      hints: ['remove the repeated directories from that commit, or use another one'],
    });
  return listLargeTree(place, treeish, under);
}

/**
 * Every path of a record's commit, which is untrusted: a few objects can expand to any number of paths.
 * OBJECT_CORRUPT, naming `ref`, if its tree has more than `maxRecordEntries` entries or is too deep.
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

/** `undefined` for a tree beyond the limits. */
async function listSmallTree(
  place: GitDirectory,
  treeish: string,
  under: string,
  limits: ListLimits,
): Promise<readonly TreeEntry[] | undefined> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  let entries: readonly Entry[] = [{ path: '', mode: '040000', object: await rootOf(place, treeish) }];
  for (let depth = 0; ; depth += 1) {
    const open = new Set(entries.filter(({ mode }) => isTreeMode(mode)).map(({ object }) => object));
    if (open.size === 0) break;
    if (open.size > limits.trees || depth > (limits.depth ?? depth)) return undefined;
    const trees = await readTrees(place, [...open]);
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
    // The commit of a submodule may exist here by chance.
    return { ...entry, sizeBytes: head?.type === 'blob' ? head.sizeBytes : 0 };
  });
}

/** The names directly in a directory of a tree; '' is the root. */
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

/**
 * Returns the id of a directory below a tree or commit; '' is the root. Returns `undefined` if there is no such
 * directory.
 */
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

/** Replaces each tree by its entries; `undefined` beyond the limit. */
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
  if (named.type === 'commit') throw absent(`${treeish}^{tree}`);
  throw unreadable(treeish);
}

/** A ref can arrive without its objects, from an incomplete copy or a pruned store. */
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

/** Two trees at one path; `''` if there is none. */
interface Pair {
  readonly before: string;
  readonly after: string;
}

interface Difference {
  readonly files: number;
  /** Keys of the pairs of directories that differ. */
  readonly below: readonly string[];
}

const maxPairs = 500_000;

/**
 * Number of paths at which two trees differ ('' is the absence of a tree), without listing them: a few objects can
 * expand to any number of paths. `undefined` beyond `most` different directories.
 */
export async function countChangedPaths(
  place: GitDirectory,
  before: string,
  after: string,
  most = maxPairs,
): Promise<number | undefined> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  const differences = new Map<string, Difference>();
  let level = new Map([[keyOf({ before, after }), { before, after }]]);
  while (level.size > 0) {
    if (differences.size + level.size > most) return undefined;
    const ids = [...level.values()].flatMap((pair) => [pair.before, pair.after]).filter(Boolean);
    const trees = await readTrees(place, [...new Set(ids)], 'latin1');
    const next = new Map<string, Pair>();
    for (const [key, pair] of level) {
      const { files, directories } = compare(trees.get(pair.before) ?? [], trees.get(pair.after) ?? []);
      const below = directories.map((one) => [keyOf(one), one] as const);
      differences.set(key, { files, below: below.map(([id]) => id) });
      for (const [id, one] of below) if (!differences.has(id)) next.set(id, one);
    }
    level = next;
  }
  // A pair comes before the pairs below it, and a tree cannot contain itself.
  const counts = new Map<string, number>();
  for (const [key] of [...differences].reverse()) count(key, differences, counts);
  return counts.get(keyOf({ before, after })) ?? 0;
}

function keyOf({ before, after }: Pair): string {
  return `${before}:${after}`;
}

function compare(
  before: readonly RawEntry[],
  after: readonly RawEntry[],
): { readonly files: number; readonly directories: readonly Pair[] } {
  const old = new Map(before.map((entry) => [entry.name, entry]));
  const names = new Set([...old.keys(), ...after.map(({ name }) => name)]);
  const now = new Map(after.map((entry) => [entry.name, entry]));
  const directories: Pair[] = [];
  let files = 0;
  for (const name of names) {
    const [was, is] = [old.get(name), now.get(name)];
    if (was?.object === is?.object && was?.mode === is?.mode) continue;
    const pair = { before: treeOf(was), after: treeOf(is) };
    if (pair.before !== pair.after) directories.push(pair);
    files += [was, is].some((entry) => entry !== undefined && !isTreeMode(entry.mode)) ? 1 : 0;
  }
  return { files, directories };
}

function treeOf(entry: RawEntry | undefined): string {
  return entry !== undefined && isTreeMode(entry.mode) ? entry.object : '';
}

function count(
  key: string,
  differences: ReadonlyMap<string, Difference>,
  counts: Map<string, number>,
): number {
  const known = counts.get(key);
  if (known !== undefined) return known;
  const { files, below } = differences.get(key) ?? { files: 0, below: [] };
  const total = below.reduce((sum, one) => sum + count(one, differences, counts), files);
  counts.set(key, total);
  return total;
}

/**
 * True if a file of the tree contains one of the texts, or could not be searched. `words`: names of files in any
 * directory, such as `*.lock`; a text then matches only as a whole package name, in any case.
 */
export async function treeMentions(
  place: GitDirectory,
  tree: string,
  texts: readonly string[],
  { words = [], signal }: { readonly words?: readonly string[]; readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const args = ['grep', '--quiet', '--text'];
  args.push(...(words.length > 0 ? ['--extended-regexp', '--ignore-case'] : ['--fixed-strings']));
  const patterns = words.length > 0 ? texts.map(wholeWord) : texts;
  args.push(...patterns.flatMap((pattern) => ['-e', pattern]), tree, '--');
  args.push(...words.map((name) => `:(glob)**/${name}`));
  const { code } = await askGit(place, args, {
    ...(words.length > 0 ? { env: { GIT_LITERAL_PATHSPECS: '0' } } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
  return code !== 1;
}

/** `left` does not match in `left-pad`; `jest` matches in `node_modules/jest`. */
function wholeWord(text: string): string {
  const literal = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `(^|[^[:alnum:]_.-])${literal}([^[:alnum:]_.-]|$)`;
}
