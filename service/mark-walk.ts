/* Resolves paths of a batch to the names that git has for them in the work trees of a repository. */
import {
  type BigIntStats,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RepositoryPlace } from '../core/interfaces/store.ts';
import { readRepositorySettings } from '../store/stores.ts';

/** Settings that determine the names of dirty paths. */
export interface MarkEnvironment {
  /** Root of the work tree that relative paths start from; links resolved. */
  readonly root: string;
  /** `core.ignorecase`: a directory goes by the spelling that it has on the disk. */
  readonly ignoreCase: boolean;
  /** `core.precomposeunicode`: names are kept in NFC. */
  readonly precompose: boolean;
  /** The work trees of the repository now: this one, the main one, the linked ones. */
  readonly trees: () => MarkTrees;
}

/**
 * Reads from git once which names are equal here and where the main work tree is. Throws GIT_FAILED if git cannot
 * read its config.
 */
export async function openMarkEnvironment(repo: RepositoryPlace): Promise<MarkEnvironment> {
  const { main, ignoreCase, precompose } = await readRepositorySettings(repo);
  const own = main === undefined || main === repo.root ? [repo.root] : [repo.root, main];
  return { root: repo.root, ignoreCase, precompose, trees: markTreesOf(repo.commonDir, own) };
}

/** A place that a path leads through: a directory, or a name under which there is none. */
export interface Place {
  /** Absent: `/`. */
  readonly parent: Place | undefined;
  /** Absolute, no link in it; absent where no directory is, and below that only names count. */
  readonly path: string | undefined;
  /** Path relative to the work tree that contains it, `''` for its root; absent outside all work trees. */
  readonly mark: string | undefined;
  /** True where a work tree's root is one of its entries. */
  readonly holdsTree: boolean;
  children: Map<string, Place> | undefined;
}

/** As many as Linux follows for one path. */
const maxLinks = 40;

/**
 * The directories on the paths of one batch, as they are on disk; each is read once. Reads names and link targets and
 * opens no files. An unreadable name (missing, no directory, too long, a loop, no permission) is kept as written,
 * never an error.
 */
export class MarkWalk {
  /** `/`. */
  readonly top: Place;
  /** Root of the work tree that relative paths start from. */
  readonly root: Place;
  readonly #ground: MarkEnvironment;
  readonly #trees: MarkTrees;
  readonly #spellings = new Map<Place, ReadonlyMap<string, string>>();

  constructor(ground: MarkEnvironment) {
    this.#ground = ground;
    this.#trees = ground.trees();
    this.top = this.#place(undefined, '/', this.#trees.roots.has('/') ? '' : undefined);
    let at = this.top;
    for (const name of namesOf(ground.root)) {
      const next = this.#directory(at, name);
      at.children = new Map([[name, next]]);
      at = next;
    }
    this.root = at;
  }

  /** Where `name` leads from here, links followed; `..` is the parent that the disk has. */
  step(from: Place, name: string, links = 0): Place {
    if (name === '..') return from.parent ?? from;
    if (from.path === undefined) return this.#nowhere(from, name);
    const known = from.children?.get(name);
    if (known) return known;
    const found = this.#look(from, name, links);
    from.children ??= new Map();
    from.children.set(name, found);
    return found;
  }

  /**
   * Returns the mark of `name` itself. Links are not followed, because git tracks the link. Outside all work trees
   * they are followed, because git tracks no files there.
   */
  markOf(from: Place, name: string): string | undefined {
    if (from.mark === undefined) return this.step(from, name).mark;
    if (from.holdsTree && this.#trees.roots.has(below(from.path ?? '', name))) return '';
    return this.#join(from.mark, name);
  }

  #look(from: Place, given: string, links: number): Place {
    const inside = from.mark !== undefined;
    const name = inside && this.#ground.ignoreCase ? this.#spelled(from, given) : given;
    const path = below(from.path ?? '', name);
    const stat = statOf(path);
    if (stat?.isSymbolicLink()) return this.#follow(from, name, path, links);
    if (!stat?.isDirectory()) return this.#nowhere(from, name);
    const root = inside || this.#trees.roots.has(path) ? undefined : this.#rootAt(path);
    return root === undefined ? this.#directory(from, name) : this.#walk(this.top, root, links);
  }

  /**
   * Returns the work tree root that is this directory, compared by identity on disk. Above a work tree the rules for
   * comparing names are unknown, and a path can be mounted twice.
   */
  #rootAt(path: string): string | undefined {
    return this.#trees.byIdentity.get(diskIdentity(path) ?? '');
  }

  #follow(from: Place, name: string, path: string, links: number): Place {
    if (links >= maxLinks) return this.#nowhere(from, name);
    let target: string;
    try {
      target = realpathSync.native(path);
    } catch (fault) {
      if (codeOf(fault) === 'ELOOP') return this.#nowhere(from, name);
      // It leads to what is not there yet: as far as it leads.
      try {
        target = readlinkSync(path);
      } catch {
        return this.#nowhere(from, name);
      }
    }
    const found = this.#walk(target.startsWith('/') ? this.top : from, target, links + 1);
    // No text names a target that is not UTF-8: inside, the link's own name has to do.
    return found.mark !== undefined && target.includes('\ufffd') ? this.#nowhere(from, name) : found;
  }

  #walk(from: Place, path: string, links: number): Place {
    let at = from;
    for (const name of namesOf(path)) at = this.step(at, name, links);
    return at;
  }

  #directory(from: Place, name: string): Place {
    const path = below(from.path ?? '', name);
    return this.#place(from, path, this.#trees.roots.has(path) ? '' : this.#join(from.mark, name));
  }

  #nowhere(from: Place, name: string): Place {
    return this.#place(from, undefined, this.#join(from.mark, name));
  }

  #place(parent: Place | undefined, path: string | undefined, mark: string | undefined): Place {
    const holdsTree = path !== undefined && this.#trees.holders.has(path);
    return { parent, path, mark, holdsTree, children: undefined };
  }

  #join(mark: string | undefined, name: string): string | undefined {
    if (mark === undefined) return undefined;
    const kept = this.#ground.precompose ? name.normalize('NFC') : name;
    return mark === '' ? kept : `${mark}/${kept}`;
  }

  /**
   * Returns the spelling on disk of the name that git treats as equal to `name`. Returns `name` if there is none, or
   * if the directory cannot be listed.
   */
  #spelled(from: Place, name: string): string {
    let spellings = this.#spellings.get(from);
    if (!spellings) {
      spellings = this.#spellingsIn(from.path ?? '');
      this.#spellings.set(from, spellings);
    }
    return spellings.get(name) ?? spellings.get(this.#fold(name)) ?? name;
  }

  #spellingsIn(directory: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    let names: readonly string[];
    try {
      names = readdirSync(directory).sort();
    } catch {
      return found;
    }
    for (const name of names) if (!found.has(this.#fold(name))) found.set(this.#fold(name), name);
    // Where two differ in case only, each is what it is.
    for (const name of names) found.set(name, name);
    return found;
  }

  #fold(name: string): string {
    return (this.#ground.precompose ? name.normalize('NFC') : name).toLowerCase();
  }
}

/** The names of a path; empty ones and `.` lead nowhere else. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function below(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function codeOf(fault: unknown): unknown {
  return fault instanceof Error && 'code' in fault ? fault.code : undefined;
}

/** The work trees of one repository as they are now. */
export interface MarkTrees {
  /** Their roots: absolute, links resolved. */
  readonly roots: ReadonlySet<string>;
  /** The directories that a root is an entry of. */
  readonly holders: ReadonlySet<string>;
  /** Each root by what the disk knows it by, however its path is spelled. */
  readonly byIdentity: ReadonlyMap<string, string>;
}

/** Identity of a file on disk (device and inode), whatever its name; `undefined` if it cannot be read. */
export function diskIdentity(path: string): string | undefined {
  const stat = statOfTree(path);
  return stat && `${stat.dev}:${stat.ino}`;
}

/**
 * Returns a reader of the work trees: `own`, and those linked in `<commonDir>/worktrees` with a `.git` file that
 * points back. A call re-reads only if that directory or a `gitdir` file in it has changed. Unreadable entries are
 * skipped; it never throws.
 */
function markTreesOf(commonDir: string, own: readonly string[]): () => MarkTrees {
  const home = join(commonDir, 'worktrees');
  let seen: string | undefined;
  let trees = identify(own);
  return () => {
    const names = namesIn(home);
    const now = names.map((name) => `${name}/${versionOf(join(home, name, 'gitdir'))}`).join('\n');
    if (now === seen) return trees;
    const linked = names.map((name) => linkedRoot(join(home, name)));
    trees = identify([...own, ...linked.filter((root) => root !== undefined)]);
    // A tree that is not there now may come back (a medium that is mounted) without a trace in that directory.
    seen = linked.includes(undefined) ? undefined : now;
    return trees;
  };
}

function namesIn(directory: string): readonly string[] {
  try {
    // Most repositories have none, and a thrown fault is dear.
    return lstatSync(directory, { throwIfNoEntry: false }) ? readdirSync(directory) : [];
  } catch {
    return [];
  }
}

function versionOf(path: string): string {
  const stat = statOfTree(path);
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}` : '';
}

function statOfTree(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function linkedRoot(admin: string): string | undefined {
  try {
    // Relative if git is so configured (`worktree.useRelativePaths`).
    const file = resolve(admin, readLine(join(admin, 'gitdir')));
    if (basename(file) !== '.git' || !lstatSync(file).isFile()) return undefined;
    const back = /^gitdir: (.+)$/s.exec(readLine(file))?.[1] ?? '';
    const root = realpathSync.native(dirname(file));
    // The directory of a pruned work tree may be somebody else's by now.
    return realpathSync.native(resolve(root, back)) === realpathSync.native(admin) ? root : undefined;
  } catch {
    return undefined;
  }
}

function readLine(path: string): string {
  if (statSync(path).size > maxPointerBytes) return '';
  return readFileSync(path, 'utf8').replace(/\n$/, '');
}

const maxPointerBytes = 8192;

function identify(roots: readonly string[]): MarkTrees {
  const byIdentity = new Map<string, string>();
  for (const root of roots) {
    const identity = diskIdentity(root);
    if (identity !== undefined) byIdentity.set(identity, root);
  }
  return { roots: new Set(roots), holders: new Set(roots.map((root) => dirname(root))), byIdentity };
}
