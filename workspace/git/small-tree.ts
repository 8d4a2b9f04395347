import type { GitDirectory } from './git.ts';
import { askObjects } from './object-reader.ts';
import { listTree, type TreeEntry } from './tree.ts';

/** A file or a link of a tree with its bytes. */
export interface SmallEntry extends TreeEntry {
  readonly mode: '100644' | '100755' | '120000';
  readonly bytes: Buffer;
}

/** A tree that is kept in memory, because it is written out again and again. */
export interface SmallTree {
  /** In git's order, no two of them in each other's way. */
  readonly entries: readonly SmallEntry[];
  /** Every directory above them, each behind the one that it is in. */
  readonly directories: readonly string[];
}

/** A larger tree is written by git, which does it with several processes. */
const most = { entries: 256, bytes: 1024 * 1024 };

const maxSegmentLength = 255;
const maxPathLength = 1000;
const maxLinkLength = 1000;

/** Names that are the same on every file system, and none that git would look at twice. */
const plainSegment = /^(?!\.git$)[\w.@+=#,()[\] -]*[\w@+=#,()[\]-]$/i;
/** Of these git refuses some as links. */
const ownNameOfGit = /(?:^|\/)\.git[^/]*$/i;

/**
 * Reads a tree of at most 256 paths and 1 MiB; `undefined` where only git is to write it: it is larger, holds a
 * submodule, names that some file system takes for another one or that git refuses, or is malformed or incomplete, so
 * that git is the one to say what is wrong.
 */
export async function readSmallTree(place: GitDirectory, treeish: string): Promise<SmallTree | undefined> {
  const listed = await listTree(place, treeish);
  if (listed.length > most.entries || listed.reduce((sum, one) => sum + one.sizeBytes, 0) > most.bytes)
    return undefined;
  const directories = directoriesOf(listed);
  if (directories === undefined) return undefined;
  const contents: Buffer[] = [];
  await askObjects(place, {
    names: listed.map(({ object }) => object),
    command: 'contents',
    maxBytes: most.bytes,
    take: (index, answer) => {
      if (answer?.type === 'blob' && answer.bytes !== undefined) contents[index] = answer.bytes;
    },
  });
  const entries: SmallEntry[] = [];
  for (const [index, { mode, ...entry }] of listed.entries()) {
    const bytes = contents[index];
    if (bytes === undefined || !isPlainMode(mode)) return undefined;
    if (mode === '120000' && !isPlainLink(entry.path, bytes)) return undefined;
    entries.push({ ...entry, mode, bytes });
  }
  return { entries, directories };
}

function isPlainMode(mode: string): mode is SmallEntry['mode'] {
  return mode === '100644' || mode === '100755' || mode === '120000';
}

function isPlainLink(path: string, target: Buffer): boolean {
  return (
    !ownNameOfGit.test(path) && target.length > 0 && target.length <= maxLinkLength && !target.includes(0)
  );
}

/** `undefined` where a path is not plain, or could stand where another one does. */
function directoriesOf(listed: readonly TreeEntry[]): readonly string[] | undefined {
  const directories = new Map<string, string>();
  const files = new Set<string>();
  let before = '';
  for (const { path } of listed) {
    if (path <= before || path.length > maxPathLength) return undefined;
    before = path;
    files.add(path.toLowerCase());
    const segments = path.split('/');
    if (!segments.every((segment) => segment.length <= maxSegmentLength && plainSegment.test(segment)))
      return undefined;
    for (let depth = 1; depth < segments.length; depth += 1) {
      const directory = segments.slice(0, depth).join('/');
      const key = directory.toLowerCase();
      if ((directories.get(key) ?? directory) !== directory) return undefined;
      directories.set(key, directory);
    }
  }
  if (files.size < listed.length || [...files].some((file) => directories.has(file))) return undefined;
  return [...directories.values()];
}
