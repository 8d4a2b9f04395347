/* Copies the carried paths of a check out of its workspace, within limits, and stores them for later checks. */
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, mkdtemp, opendir, readlink, rename, symlink } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { CarriedPath } from '../../core/interfaces/stage.ts';
import { digestDirectory } from '../../workspace/git/directory-digest.ts';
import { removeTree } from '../../workspace/git/torn-paths.ts';
import { pathsOverlap } from '../config/workspace-section.ts';
import { inParallel } from '../state/machine.ts';
import { copyTree } from './workspace-dependencies/shared-directory.ts';

/** Copies of carried paths, each stored under the digest of its listing. No check can see this directory. */
export interface CarryStore {
  /** Copies a check's output at these paths; paths that cannot be carried are listed in `refused`. */
  take(workspace: string, paths: readonly string[]): Promise<HandedOn>;
  /** Copies the carried paths into a fresh export that tracks no files there. */
  lay(carried: readonly CarriedPath[], workspace: string): Promise<void>;
  /**
   * Returns whether all carried content is present, byte for byte. Called for content that an earlier process stored.
   */
  holds(carried: readonly CarriedPath[]): Promise<boolean>;
}

export interface HandedOn {
  readonly carried: readonly CarriedPath[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Bounds of one carried path: entries, bytes over all files, characters of a path. */
export const carryLimits: CarryLimits = { entries: 100_000, bytes: 4 * 2 ** 30, pathCharacters: 1024 };

interface CarryLimits {
  readonly entries: number;
  readonly bytes: number;
  readonly pathCharacters: number;
}

/** Parents of a carried path are listed too. */
const digestLimits = { within: '/', maxEntries: 2 * carryLimits.entries, maxBytes: carryLimits.bytes };

/** The store of one epoch at `root`, which is made when it is first written to. */
export function openCarryStore(root: string): CarryStore {
  const verified = new Set<string>();
  return {
    async take(workspace, paths) {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const carried: CarriedPath[] = [];
      const refused: { path: string; reason: string }[] = [];
      for (const path of paths) {
        const draft = await mkdtemp(join(root, 'draft-'));
        try {
          const taken = await applyCarried(workspace, path, draft);
          if (taken === 'absent') continue;
          const found = taken === 'copied' ? await digestDirectory(draft, digestLimits) : taken;
          if ('fault' in found) {
            refused.push({ path, reason: found.fault });
            continue;
          }
          const { sha256, entries, bytes } = found;
          const place = join(root, sha256);
          if (!(await exists(place))) await rename(draft, place);
          verified.add(sha256);
          carried.push({ path, sha256, entries, bytes });
        } finally {
          await removeTree(draft);
        }
      }
      return { carried, refused };
    },
    async lay(carried, workspace) {
      for (const { path, sha256 } of carried) await copyTree(join(root, sha256), workspace, path);
    },
    async holds(carried) {
      for (const { sha256 } of carried) {
        if (verified.has(sha256)) continue;
        const place = join(root, sha256);
        if (!(await exists(place))) return false;
        const found = await digestDirectory(place, digestLimits);
        if ('fault' in found || found.sha256 !== sha256) return false;
        verified.add(sha256);
      }
      return true;
    },
  };
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

const parallelFiles = 16;

/** The result for one carried path, or why it cannot be carried over. */
type Taken = 'absent' | 'copied' | { readonly fault: string };

/**
 * Copies a check's output at `path` of its workspace to the same path below `into` (expected empty). It copies files,
 * directories, and links that stay in the workspace, as links. It follows no link. Other file types, any entry called
 * `.git`, and output above the limits are faults. Modes become 0755 or 0644; owners, times and extended attributes
 * are not copied.
 */
export async function applyCarried(
  workspace: string,
  path: string,
  into: string,
  limits = carryLimits,
): Promise<Taken> {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    const parent = path.slice(0, end);
    const found = await kindOf(join(workspace, parent));
    if (found === 'absent') return 'absent';
    if (found !== 'directory') return { fault: `\`${parent}\` is not a directory` };
  }
  await mkdir(join(into, dirname(path)), { recursive: true });
  const files: { readonly path: string; readonly mode: number }[] = [];
  const pending = [path];
  let entries = 1;
  let bytes = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const from = join(workspace, next);
    const status = await lstat(from).catch(() => undefined);
    if (status === undefined && next === path) return 'absent';
    if (status?.isFile()) {
      bytes += status.size;
      if (bytes > limits.bytes) return { fault: `its files are larger than ${limits.bytes} bytes` };
      files.push({ path: next, mode: (status.mode & 0o111) === 0 ? 0o644 : 0o755 });
    } else if (status?.isSymbolicLink()) {
      const target = await readlink(from);
      if (leadsOut(next, target))
        return { fault: `the link \`${printable(next)}\` leads out of the workspace` };
      await symlink(target, join(into, next));
    } else if (status?.isDirectory()) {
      await mkdir(join(into, next));
      const fault = await list(workspace, next, limits, (child) => {
        pending.push(child);
        return ++entries <= limits.entries;
      });
      if (fault !== undefined) return { fault };
    } else return { fault: `\`${printable(next)}\` is neither a file, a directory nor a link` };
  }
  await inParallel(files, parallelFiles, async (file) => {
    const to = join(into, file.path);
    await copyFile(join(workspace, file.path), to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(to, file.mode);
  });
  return 'copied';
}

/** Passes each name in a directory to `take` until `take` stops it, so that millions of names are never in memory. */
async function list(
  workspace: string,
  directory: string,
  limits: CarryLimits,
  take: (path: string) => boolean,
): Promise<string | undefined> {
  const listing = await opendir(join(workspace, directory), { encoding: 'buffer' as BufferEncoding }).catch(
    () => undefined,
  );
  if (listing === undefined) return `\`${printable(directory)}\` cannot be read`;
  for await (const entry of listing) {
    const raw = entry.name as unknown as Buffer;
    const name = raw.toString('utf8');
    if (!Buffer.from(name, 'utf8').equals(raw))
      return `a file name in \`${printable(directory)}\` is not UTF-8`;
    const path = `${directory}/${name}`;
    if (name.toLowerCase() === '.git') return `\`${printable(path)}\` would be a repository to git`;
    if (path.length > limits.pathCharacters)
      return `a path is longer than ${limits.pathCharacters} characters`;
    if (!take(path)) return `it holds more than ${limits.entries} entries`;
  }
  return undefined;
}

/**
 * Decides by the link's text alone. `..` is allowed only at the start: after the name of another link, it would start
 * from that link's target. So every chain of carried links stays in the workspace.
 */
function leadsOut(link: string, target: string): boolean {
  if (target.startsWith('/')) return true;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const ups = parts.findIndex((part) => part !== '..');
  if (ups >= 0 && parts.slice(ups).includes('..')) return true;
  const reached = posix.normalize(posix.join(posix.dirname(link), target));
  return reached === '..' || reached.startsWith('../') || /^\.git(?:\/|$)/i.test(reached);
}

async function kindOf(path: string): Promise<'absent' | 'directory' | 'other'> {
  const status = await lstat(path).catch(() => undefined);
  return status === undefined ? 'absent' : status.isDirectory() ? 'directory' : 'other';
}

function printable(path: string): string {
  const plain = path.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd');
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}

/** A carried path, and what the tree tracks there. */
export interface TrackedCarry {
  readonly path: string;
  readonly tracked: string;
}

/**
 * Returns the carried paths that conflict with tracked paths. A path is tracked at or below one, or a file or link is
 * tracked above one, where a directory is needed. Names that some file systems treat as equal count as equal.
 * Otherwise a check could carry over files that later checks use as the candidate's. Pure.
 */
export function trackedCarry(
  carry: readonly string[],
  entries: readonly { readonly path: string }[],
): readonly TrackedCarry[] {
  const wanted = carry.map((path) => ({ path, folded: fold(path) }));
  const found = new Map<string, string>();
  if (carry.length === 0) return [];
  for (const entry of entries) {
    const folded = fold(entry.path);
    for (const { path, folded: one } of wanted)
      if (!found.has(path) && pathsOverlap(one, folded)) found.set(path, entry.path);
  }
  return [...found].map(([path, tracked]) => ({ path, tracked }));
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}
