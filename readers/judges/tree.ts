/* A git tree as commands see it, with its links followed. */
import { compileGlob } from '../../core/base/glob.ts';
import { firstIndex } from '../source/first-index.ts';

/** A tree, with the queries that only its reader needs. */
export interface WholeTree extends VerifyingTree {
  sizeOf(path: string): number;
  /** All but the root, in order; of `node_modules` only that it is there. */
  readonly directories: readonly string[];
}

/** A tree as commands see it: symbolic links on the way are followed. */
export function verifyingTree(
  entries: readonly LinkedEntry[],
  links: ReadonlyMap<string, string>,
): WholeTree {
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

/** Uses a binary search: a script may look up many directories of a large tree. */
function withPrefix(sorted: readonly string[], prefix: string): readonly string[] {
  const from = firstFrom(sorted, prefix);
  // Entries with the prefix are consecutive, before every entry that begins with the next character.
  const next = `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`;
  return sorted.slice(from, firstFrom(sorted, next));
}

function firstFrom(sorted: readonly string[], least: string): number {
  return firstIndex(sorted.length, (at) => (sorted[at] ?? '') < least);
}

const maxLinks = 10_000;
const maxTargetBytes = 4_096;
const maxDepth = 40;

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

const maxGlob = 300;

/** Files of the tree that match a glob from its root; a path without wildcards matches itself. */
export function globbed(glob: string, tree: VerifyingTree): readonly string[] {
  if (!/[*?]/.test(glob)) return tree.isFile(glob) ? [glob] : [];
  if (glob.length > maxGlob) return [];
  const { matches } = compileGlob(glob);
  return tree.under(glob.slice(0, glob.search(/[*?]/)).replace(/\/?[^/]*$/, '')).filter(matches);
}

/**
 * Returns a predicate for whether programs run in a directory ('' is the root). `places` lists directories; `**`
 * includes every directory.
 */
export function placeTest(places: readonly string[]): (directory: string) => boolean {
  const named = new Set(places);
  return named.has('**') ? () => true : (directory) => named.has(directory);
}

/** What one command leads to. Paths are of the tree. */
export type Named =
  | { readonly kind: 'script' | 'config' | 'test'; readonly path: string }
  /** Named in inline code, an assignment or a comparison of the command. */
  | { readonly kind: 'mentioned'; readonly path: string }
  /** A script of a manifest; hooks go with it. */
  | { readonly kind: 'npm'; readonly manifest: string; readonly script: string }
  /** A target of a file of recipes. */
  | { readonly kind: 'recipes'; readonly path: string }
  /** The `main` file of a manifest, run when a command names the manifest's directory. */
  | { readonly kind: 'main'; readonly manifest: string }
  /** A name, or a glob, that is not there, and counts once it is. */
  | { readonly kind: 'absent'; readonly path: string }
  /** A directory in which every file is a verification input. */
  | { readonly kind: 'rules'; readonly path: string }
  /** Another directory in which the commands that follow run. */
  | { readonly kind: 'directory'; readonly path: string }
  /** A program as it is called, without its directory. */
  | { readonly kind: 'program'; readonly name: string };

/** The tree in which commands run. */
export interface VerifyingTree {
  isFile(path: string): boolean;
  isDirectory(path: string): boolean;
  under(directory: string): readonly string[];
}

const scriptEndings = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx'];
const indexes = scriptEndings.map((ending) => `index${ending}`);
const loadsJavascript = /^(?:node|nodejs|bun|tsx|ts-node|ts-node-esm|esno|babel-node|zx|c8|nyc)$/;
const loadsPython = /^(?:python[\d.]*|pypy3?|coverage)$/;

/**
 * Resolves a name that is not a file, as an interpreter does. `scripts/audit` becomes `scripts/audit.js`, and
 * `./scripts` its `index.js` or the file in its `package.json`; a Python directory becomes its `__main__.py`. Missing
 * names that would have precedence are returned as `absent`.
 */
export function completedName(
  program: string,
  word: string,
  directory: string,
  tree: VerifyingTree,
): readonly Named[] {
  for (const from of directory === '' ? [''] : [directory, '']) {
    const path = joined(from, word);
    if (path === undefined) continue;
    const named = candidates(program, path, tree);
    const last = named.findLastIndex((name) => tree.isFile(name));
    if (last < 0) continue;
    return named.slice(0, last + 1).map((name): Named => {
      if (!tree.isFile(name)) return { kind: 'absent', path: name };
      return /(?:^|\/)package\.json$/.test(name)
        ? { kind: 'main', manifest: name }
        : { kind: 'script', path: name };
    });
  }
  return [];
}

export function mainNames(main: string, directory: string, tree: VerifyingTree): readonly Named[] {
  const path = joined(directory, main) ?? '';
  return tree.isFile(path) ? [{ kind: 'script', path }] : completedName('node', main, directory, tree);
}

function candidates(program: string, path: string, tree: VerifyingTree): readonly string[] {
  const inside = (name: string): string => (path === '' ? name : `${path}/${name}`);
  const isDirectory = tree.isDirectory(path);
  if (loadsPython.test(program)) return isDirectory ? [inside('__main__.py')] : [];
  if (!loadsJavascript.test(program)) return [];
  return [
    ...(path === '' || isDirectory ? [] : [path]),
    ...(path === '' ? [] : scriptEndings.map((ending) => path + ending)),
    ...(isDirectory ? ['package.json', ...indexes].map(inside) : []),
  ];
}
