import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { WritError } from '../../core/base/errors.ts';
import { runGit } from './git.ts';
import type { Repository } from './repository.ts';

/** A copy of a work tree, and what became of it. */
export interface CopiedTree {
  /** Paths that were added, changed or deleted in the copy since, sorted; at most so many as `mostTold`. */
  changed(): Promise<readonly CopyChange[]>;
}

export interface CopyChange {
  readonly path: string;
  readonly was: 'added' | 'changed' | 'deleted';
}

/** What a copy may hold, how many of its changes are told, and how much is looked through for them. */
export const copyLimits = { files: 200_000, bytes: 4 * 2 ** 30, told: 1000, looked: 400_000 } as const;
const atOnce = 16;

/** Of `.writ/` what is tracked there by its nature (resolutions A, Workspace); tokens and journals lie beside it. */
const ownFiles = /^\.writ\/(?:config\.toml|allowed_signers|agents\/.+|trust\/.+)$/i;

/**
 * Copies what the work tree holds now to `to`, an empty directory: tracked and untracked files, as they are on disk.
 * Not what git ignores, no `.git`, of `.writ/` what repositories track there; submodules and repositories within are
 * empty directories. Links are copied as links and none is followed, on the way to a file either.
 * WORKTREE_TOO_LARGE where it is more than a copy may hold.
 */
export async function copyWorkTree(
  repository: Repository,
  to: string,
  signal: AbortSignal,
): Promise<CopiedTree> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runGit(repository, args, { maxBytes: 512 * 1024 * 1024, signal });
  const names = namesIn(listed).filter(isShown);
  if (names.length > copyLimits.files) throw tooMuch('files', copyLimits.files, names.length);
  const from = Buffer.from(`${repository.root}/`);
  const target = Buffer.from(`${to}/`);
  const directories = openDirectories(from, target);
  let bytes = 0;
  const copyOne = async (name: Buffer): Promise<void> => {
    signal.throwIfAborted();
    if (!(await directories.enter(parentOf(name)))) return;
    const source = Buffer.concat([from, name]);
    const copy = Buffer.concat([target, name]);
    const found = await lstat(source).catch(() => undefined);
    if (found === undefined) return;
    bytes += found.isFile() ? found.size : 0;
    if (bytes > copyLimits.bytes) throw tooMuch('octets', copyLimits.bytes, bytes);
    if (found.isFile()) await copyFile(source, copy, constants.COPYFILE_FICLONE);
    else if (found.isSymbolicLink()) await symlink(await readlink(source, 'buffer'), copy);
    else if (found.isDirectory()) await mkdir(copy, { recursive: true });
    // A socket or a pipe holds nothing that could be copied.
  };
  await inParallel(names, copyOne);
  const before = await statesIn(target);
  return { changed: async () => changesBetween(before, await statesIn(target)) };
}

function namesIn(listed: Buffer): readonly Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at);
    // A repository within is listed as a directory.
    const isDirectory = listed[end - 1] === 0x2f;
    names.push(listed.subarray(at, isDirectory ? end - 1 : end));
    at = end + 1;
  }
  return names;
}

function isShown(name: Buffer): boolean {
  const text = name.toString('utf8');
  return !/^\.writ(?:\/|$)/i.test(text) || ownFiles.test(text);
}

function parentOf(name: Buffer): Buffer {
  return name.subarray(0, Math.max(0, name.lastIndexOf('/')));
}

/** Directories of a copy, each made once; those that are none in the work tree are not entered. */
function openDirectories(from: Buffer, target: Buffer) {
  const known = new Map<string, Promise<boolean>>();
  const enter = (path: Buffer): Promise<boolean> => {
    if (path.length === 0) return Promise.resolve(true);
    const key = path.toString('latin1');
    const entered = known.get(key) ?? make(path);
    known.set(key, entered);
    return entered;
  };
  const make = async (path: Buffer): Promise<boolean> => {
    if (!(await enter(parentOf(path)))) return false;
    const found = await lstat(Buffer.concat([from, path])).catch(() => undefined);
    if (found?.isDirectory() !== true) return false;
    await mkdir(Buffer.concat([target, path]), { recursive: true });
    return true;
  };
  return { enter };
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
}

/** What no write leaves as it is, of each file below: the time of the last change cannot be set. */
async function statesIn(root: Buffer): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>();
  const pending: Buffer[] = [Buffer.alloc(0)];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const below = next.length === 0 ? next : Buffer.concat([next, Buffer.from('/')]);
    const directory = Buffer.concat([root, next]);
    // A command may have taken the rights to it: then what it holds is not known.
    const entries = await readdir(directory, { encoding: 'buffer', withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (states.size >= copyLimits.looked) return states;
      const name = Buffer.concat([below, entry.name]);
      if (entry.isDirectory()) pending.push(name);
      else {
        const found = await lstat(Buffer.concat([root, name]), { bigint: true }).catch(() => undefined);
        states.set(name.toString('utf8'), `${found?.ino} ${found?.mode} ${found?.size} ${found?.ctimeNs}`);
      }
    }
  }
  return states;
}

function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly CopyChange[] {
  const come = [...after].flatMap(([path, state]): CopyChange[] => {
    const was = before.get(path);
    if (was === undefined) return [{ path, was: 'added' }];
    return was === state ? [] : [{ path, was: 'changed' }];
  });
  const gone = [...before.keys()].flatMap((path): CopyChange[] =>
    after.has(path) ? [] : [{ path, was: 'deleted' }],
  );
  return [...come, ...gone].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, copyLimits.told);
}

function tooMuch(what: string, limit: number, found: number): WritError {
  return new WritError('WORKTREE_TOO_LARGE', {
    message: `the work tree is too large to be copied: expected at most ${limit} ${what}, found ${found}`,
    detail: { expected: limit, found },
  });
}
