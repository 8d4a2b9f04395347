import type { GitDirectory } from './git.ts';
import { keepObjectReaders } from './object-reader.ts';
import { readTrees } from './tree.ts';
import { isTreeMode, type RawEntry } from './tree-object.ts';

/** Two trees at one place; `''` where there is none. */
interface Pair {
  readonly before: string;
  readonly after: string;
}

/** What differs between two trees. */
interface Difference {
  readonly files: number;
  /** Keys of the pairs of directories that differ; one pair may stand at several names. */
  readonly below: readonly string[];
}

/** Most directories that are compared; equal pairs are compared once. */
const maxPairs = 500_000;

/**
 * At how many paths two trees differ, without listing them: a few objects can expand to any number of paths, and git
 * lists them all before it answers. Infinity for more directories than are compared.
 */
export async function countChangedPaths(place: GitDirectory, before: string, after: string): Promise<number> {
  await using readers = keepObjectReaders();
  readers.keep(place);
  const differences = new Map<string, Difference>();
  let level = new Map([[keyOf({ before, after }), { before, after }]]);
  while (level.size > 0) {
    if (differences.size + level.size > maxPairs) return Number.POSITIVE_INFINITY;
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
  // A pair is known before the pairs below it, and a tree cannot hold itself.
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
