import { firstIndex } from '../source/first-index.ts';
import type { JudgedTree } from './named.ts';

/** A tree with what only its reader asks. */
export interface WholeTree extends JudgedTree {
  /** Bytes of a file. */
  sizeOf(path: string): number;
  /** All but the root, in order; of `node_modules` only that it is there. */
  readonly directories: readonly string[];
}

/** A tree as commands see it: symbolic links on the way are followed. */
export function judgedTree(entries: readonly LinkedEntry[], links: ReadonlyMap<string, string>): WholeTree {
  const sizes = new Map(entries.map(({ path, sizeBytes }) => [path, sizeBytes]));
  const sorted = [...sizes.keys()].sort();
  const directories = new Set<string>();
  for (const path of sorted)
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const directory = path.slice(0, slash);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  const real = (path: string): string => followLinks(path, links).path;
  return {
    isFile: (path) => sizes.has(real(path)),
    isDirectory: (path) => path === '' || directories.has(real(path)),
    under: (directory) => {
      const at = real(directory);
      return at === '' ? sorted : withPrefix(sorted, `${at}/`);
    },
    directories: [...directories].filter((path) => !path.includes('node_modules/')).sort(),
    sizeOf: (path) => sizes.get(path) ?? 0,
  };
}

/** Looked for by halves: a script may ask for many directories of a large tree. */
function withPrefix(sorted: readonly string[], prefix: string): readonly string[] {
  const from = firstFrom(sorted, prefix);
  // What begins so stands together, before everything that begins with the next character.
  const next = `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
  return sorted.slice(from, firstFrom(sorted, next));
}

function firstFrom(sorted: readonly string[], least: string): number {
  return firstIndex(sorted.length, (at) => (sorted[at] ?? '') < least);
}

const maxLinks = 10_000;
const maxTargetBytes = 4_096;
const maxDepth = 40;

/** A path of a tree whose entry may be a symbolic link. */
export interface LinkedEntry {
  readonly path: string;
  readonly sizeBytes: number;
  readonly mode?: string;
}

/** Targets of the symbolic links of a tree by their paths: at most 10,000 links. */
export async function readLinks(
  entries: readonly LinkedEntry[],
  read: (paths: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>,
): Promise<ReadonlyMap<string, string>> {
  const links = entries.filter(({ mode, sizeBytes }) => mode === '120000' && sizeBytes <= maxTargetBytes);
  if (links.length === 0) return new Map();
  const targets = await read(links.slice(0, maxLinks).map(({ path }) => path));
  return new Map([...targets].map(([path, target]) => [path, target.toString('utf8')]));
}

/**
 * Where a path leads, and the links on the way: at most 40. A path that leads out of the tree, or round in circles,
 * stays what it is.
 */
export function followLinks(
  path: string,
  targets: ReadonlyMap<string, string>,
): { readonly path: string; readonly links: readonly string[] } {
  if (targets.size === 0) return { path, links: [] };
  const links: string[] = [];
  const done: string[] = [];
  const waiting = path.split('/').reverse();
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (done.pop() === undefined) return { path, links };
      continue;
    }
    done.push(part);
    const here = done.join('/');
    const target = targets.get(here);
    if (target === undefined) continue;
    links.push(here);
    if (target.startsWith('/') || links.length > maxDepth) return { path, links };
    done.pop();
    waiting.push(...target.split('/').reverse());
  }
  return { path: done.join('/'), links };
}

/** A word as a path of the tree, seen from a directory; `undefined` where it leaves the tree. */
export function joined(from: string, word: string): string | undefined {
  if (word === '' || word.startsWith('/') || word.length > 1_000 || /[\n\0]/.test(word)) return undefined;
  const parts = from === '' ? [] : from.split('/');
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

/** The directory of a path; '' for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/**
 * Tells paths that a glob of the tree takes: `*`, `?`, `**`; `undefined` for one that is too long or has more than four
 * stars.
 */
export function pathGlob(glob: string): RegExp | undefined {
  if (glob.length > 300 || (glob.match(/\*/g) ?? []).length > 4) return undefined;
  const form = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/?/g, '\u0000')
    .replace(/\*/g, '[^/]*')
    .replace(/\?/g, '[^/]')
    .replaceAll('\u0000', '(?:.*/)?');
  return new RegExp(`^${form}$`);
}

/** Files of the tree that a glob from its root takes; a path without stars takes itself. */
export function globbed(glob: string, tree: JudgedTree): readonly string[] {
  if (!/[*?]/.test(glob)) return tree.isFile(glob) ? [glob] : [];
  const form = pathGlob(glob);
  const root = glob.slice(0, glob.search(/[*?]/)).replace(/\/?[^/]*$/, '');
  return form === undefined ? [] : tree.under(root).filter((path) => form.test(path));
}

/** Tells whether programs run in a directory ('' for the root). `places` are directories, and `**` for every one. */
export function placeTest(places: readonly string[]): (directory: string) => boolean {
  const named = new Set(places);
  return named.has('**') ? () => true : (directory) => named.has(directory);
}
