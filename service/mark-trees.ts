import { type BigIntStats, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

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
export function markTreesOf(commonDir: string, own: readonly string[]): () => MarkTrees {
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
