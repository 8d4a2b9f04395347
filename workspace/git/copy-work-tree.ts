import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, realpath, statfs, symlink } from 'node:fs/promises';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import {
  type CopiedState,
  type CopiedStates,
  type CopyChange,
  changesBetween,
  openSlices,
  statAt,
  statesIn,
  toState,
} from './copied-states.ts';
import { runGit } from './git.ts';
import { removeTree } from './remove-tree.ts';
import type { Repository } from './repository.ts';

/** A copy of a work tree, and what became of it. */
export interface CopiedTree {
  /** Paths that were added, changed or deleted in the copy since, sorted; at most so many as `told`. */
  changed(): Promise<readonly CopyChange[]>;
  /** As it was made. */
  readonly made: CopiedStates;
  /** Paths that could not be read or copied, sorted; of them the copy has nothing. */
  readonly leftOut: readonly string[];
  /** States of the files that it was made of, where they cannot have been written to meanwhile. */
  readonly sources: ReadonlyMap<string, string>;
}

/** What a copy may hold, and how many of its changes are told. */
export const copyLimits = { files: 200_000, bytes: 4 * 2 ** 30, told: 1000 } as const;
const atOnce = 16;
/** What one file may be left out for: no right to it, a path that is too long for the copy, never the same file. */
const ofOneFile: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'ESTALE']);
/** Of a file system's clock: what was changed so shortly before it was copied may look the same when changed again. */
const longestTickNs = 2_000_000_000n;

/** What is known of a copy that stands. */
type LastCopy = Pick<CopiedTree, 'made' | 'sources'>;

/** Of `.writ/` what is tracked there by its nature (resolutions A, Workspace); tokens and journals lie beside it. */
const ownFiles = /^\.writ\/(?:config\.toml|allowed_signers|agents\/.+|trust\/.+)$/i;

/**
 * Copies what the work tree holds now to `to`, an empty directory: tracked and untracked files, as they are on disk.
 * Not what git ignores, no `.git`, of `.writ/` what repositories track there; submodules and repositories within are
 * empty directories. Links are copied as links and none is followed, on the way to a file either. A git directory of
 * another name has no copy. `last`: the copy that
 * stands there already, whatever became of it; what is as it was made, of a file that is what it was, is not copied
 * again, and nothing else of it stays. WORKTREE_TOO_LARGE where it is more than a copy may hold.
 */
export async function copyWorkTree(
  repository: Repository,
  to: string,
  signal: AbortSignal,
  { last, tickNs = longestTickNs }: { readonly last?: LastCopy; readonly tickNs?: bigint } = {},
): Promise<CopiedTree> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runGit(repository, args, { maxBytes: 512 * 1024 * 1024, signal });
  const isOwn = await isInGitDirectory(repository);
  const names = namesIn(listed).filter((name) => isShown(name) && !isOwn(name));
  if (names.length > copyLimits.files) throw tooMuch('files', copyLimits.files, names.length);
  const from = Buffer.from(`${repository.root}/`);
  const target = Buffer.from(`${to}/`);
  const kept = last === undefined ? new Set<string>() : await keepOf(last, { names, from, target, to });
  const directories = openDirectories(from, target);
  const sources = new Map<string, CopiedState>();
  const leftOut: string[] = [];
  const slice = openSlices();
  let bytes = 0;
  const admit = (octets: number): void => {
    bytes += octets;
    if (bytes > copyLimits.bytes) throw tooMuch('octets', copyLimits.bytes, bytes);
  };
  const copyOne = async (name: Buffer): Promise<void> => {
    signal.throwIfAborted();
    await slice();
    const key = name.toString('latin1');
    // What was kept may have changed since it was looked at.
    const isKnown = (state: string): boolean => kept.has(key) && last?.sources.get(key) === state;
    try {
      if (!(await directories.enter(parentOf(name)))) return;
      const source = Buffer.concat([from, name]);
      const copied = await copyEntry(source, Buffer.concat([target, name]), { isKnown, admit });
      if (copied !== undefined) sources.set(key, copied);
    } catch (fault) {
      if (!ofOneFile.has(Object(fault).code)) throw fault;
      leftOut.push(name.toString('utf8'));
    }
  };
  await inParallel(names, copyOne);
  const made = await statesIn(target);
  const isTold = (await showsWrites(repository.root)) && (await showsWrites(to));
  return {
    made,
    leftOut: leftOut.sort().slice(0, copyLimits.told),
    sources: isTold && (await ticksAfter(to, newestOf(made))) ? settled(sources, made, tickNs) : new Map(),
    changed: async () => changesBetween(made, await statesIn(target), copyLimits.told),
  };
}

function newestOf({ states }: CopiedStates): bigint {
  let newest = 0n;
  for (const { ctimeNs } of states.values()) if (ctimeNs > newest) newest = ctimeNs;
  return newest;
}

/** Of what was copied, that of which no later write can look like the one before. */
function settled(
  sources: ReadonlyMap<string, CopiedState>,
  { states }: CopiedStates,
  tickNs: bigint,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, { state, ctimeNs }] of sources) {
    const copy = states.get(name);
    if (copy !== undefined && ctimeNs + tickNs < copy.ctimeNs) found.set(name, state);
  }
  return found;
}

/** Takes from a copy that stands what is no copy any more; answers the names of which it still is one. */
async function keepOf(
  { made, sources }: LastCopy,
  {
    names,
    from,
    target,
    to,
  }: {
    readonly names: readonly Buffer[];
    readonly from: Buffer;
    readonly target: Buffer;
    readonly to: string;
  },
): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  const { states, isWhole, root } = await statesIn(target);
  if (!isWhole || !made.isWhole || root !== made.root) {
    await removeTree(to);
    await mkdir(to);
    return kept;
  }
  const slice = openSlices();
  const wanted = new Map(names.map((name) => [name.toString('latin1'), name]));
  const above = new Set<string>();
  for (const key of wanted.keys())
    for (
      let at = key.lastIndexOf('/');
      at > 0 && !above.has(key.slice(0, at));
      at = key.lastIndexOf('/', at - 1)
    )
      above.add(key.slice(0, at));
  const isKept = (path: string, { state, isDirectory }: CopiedState): boolean => {
    if (made.states.get(path)?.state !== state) return false;
    const name = wanted.get(path);
    const isAbove = isDirectory && above.has(path);
    if (name === undefined && !isAbove) return false;
    // Also where a directory was: what stands there now may lead elsewhere.
    const source = statAt(Buffer.concat([from, Buffer.from(path, 'latin1')]));
    if (isDirectory) return source?.isDirectory() === true;
    return source !== undefined && sources.get(path) === toState(source).state;
  };
  const gone = new Set<string>();
  for (const [path, state] of states) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (gone.has(parent) || !isKept(path, state)) {
      gone.add(path);
      // Whatever is above it is a directory that was kept: no link leads out of the copy.
      if (!gone.has(parent)) await removeTree(Buffer.concat([target, Buffer.from(path, 'latin1')]));
    } else if (!state.isDirectory) kept.add(path);
    await slice();
  }
  return kept;
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

/** It is called `.git` or named by such a file, and may lie in the work tree: git shows it then like any other. */
async function isInGitDirectory({ root, gitDir, commonDir }: Repository): Promise<(name: Buffer) => boolean> {
  const places = await Promise.all([gitDir, commonDir].map((place) => realpath(place)));
  const own = places
    .filter((place) => place.startsWith(`${root}/`))
    .map((place) => Buffer.from(`${place.slice(root.length + 1)}/`).toString('latin1'));
  return (name) => own.some((place) => `${name.toString('latin1')}/`.startsWith(place));
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
    await makeDirectory(Buffer.concat([target, path]));
    return true;
  };
  return { enter };
}

/** After the first fault nothing is begun, and nobody works on when it is thrown. */
async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    try {
      for (let item = items[next++]; item !== undefined; item = items[next++]) await act(item);
    } catch (fault) {
      next = items.length;
      throw fault;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

function tooMuch(what: string, limit: number, found: number): WritError {
  return new WritError('WORKTREE_TOO_LARGE', {
    message: `the work tree is too large to be copied: expected at most ${limit} ${what}, found ${found}`,
    detail: { expected: limit, found },
  });
}

/**
 * ext, XFS, Btrfs, F2FS (statfs(2)): a write through a mapped page changes the time as any other does. In the memory of
 * tmpfs it leaves no trace; of others it is not known.
 */
const telling: ReadonlySet<bigint> = new Set([0xef53n, 0x58465342n, 0x9123683en, 0xf2f52010n]);
/** Longest time in which the clock of a file system is waited for. */
const longestWaitMs = 100;

/** Whether no write to a file below `path` leaves the time of its last change as it is, where the clock has ticked. */
async function showsWrites(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return telling.has((await statfs(path, { bigint: true })).type);
}

/** Waits until the file system of a directory of ours says a later time than `ctimeNs`; false where that takes long. */
export async function ticksAfter(directory: string, ctimeNs: bigint): Promise<boolean> {
  const ends = systemClock.monotonic() + longestWaitMs;
  for (;;) {
    const { mode } = lstatSync(directory);
    chmodSync(directory, mode & 0o7777);
    if (lstatSync(directory, { bigint: true }).ctimeNs > ctimeNs) return true;
    if (systemClock.monotonic() > ends) return false;
    await systemClock.sleep(1);
  }
}

/** What waits for somebody to write to it is opened without waiting. */
const asItself = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const asNew = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
/** Something else stands at a path, or nothing, since it was looked at. */
const moved: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO']);
/** How often one path is looked at. */
const mostLooks = 5;

/** What is asked about an entry before it is copied. */
interface EntryAsked {
  /** Its copy stands already. */
  isKnown(state: string): boolean;
  /** Throws where so many octets more are too many. */
  admit(octets: number): void;
}

/**
 * Copies what stands at `source` in place of whatever stands at `copy`. A link is copied as a link, and none that is
 * put there meanwhile is followed, on the way to a file either. `undefined` where nothing stands that could be copied;
 * throws EACCES where it may not be read, ESTALE where something else stands there at each look.
 */
export async function copyEntry(
  source: Buffer,
  copy: Buffer,
  { isKnown, admit }: EntryAsked,
): Promise<CopiedState | undefined> {
  for (let look = 0; look < mostLooks; look += 1) {
    const found = lstatSync(source, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const state = toState(found);
    if (isKnown(state.state)) {
      admit(found.isFile() ? Number(found.size) : 0);
      return state;
    }
    if (found.isFile()) {
      const copied = await copyFileAt(source, copy, admit);
      if (copied !== undefined) return copied;
    } else if (found.isSymbolicLink()) {
      const target = await readlink(source, 'buffer').catch(nothing);
      if (target === undefined) continue;
      await anew(copy, () => symlink(target, copy));
      return state;
    } else if (found.isDirectory()) {
      await makeDirectory(copy);
      return state;
      // A socket or a pipe holds nothing that could be copied.
    } else return undefined;
  }
  throw Object.assign(new Error(`\`${source}\` is another file at each look`), { code: 'ESTALE' });
}

/** A directory for the copies of others: no link that stands there, which would lead out of the copy. */
export async function makeDirectory(copy: Buffer): Promise<void> {
  if (lstatSync(copy, { throwIfNoEntry: false })?.isDirectory() === true) return;
  await anew(copy, () => mkdir(copy));
}

/** `undefined` where no file stands there any more. */
async function copyFileAt(
  source: Buffer,
  copy: Buffer,
  admit: EntryAsked['admit'],
): Promise<CopiedState | undefined> {
  const file = openAt(source);
  if (file === undefined) return undefined;
  try {
    const found = fstatSync(file, { bigint: true });
    if (!found.isFile()) return undefined;
    // Linux says where an open file lies, whatever became of the directories above it, and copies that very file.
    const opened = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${file}`) : undefined;
    if (opened && !readlinkSync(opened, { encoding: 'buffer' }).equals(source)) return undefined;
    admit(Number(found.size));
    await anew(copy, () => copyFile(opened ?? source, copy, asNew));
    return toState(found);
  } finally {
    closeSync(file);
  }
}

function openAt(source: Buffer): number | undefined {
  try {
    return openSync(source, asItself);
  } catch (fault) {
    return nothing(fault);
  }
}

async function anew(copy: Buffer, make: () => Promise<void>): Promise<void> {
  try {
    await make();
  } catch (fault) {
    if (codeOf(fault) !== 'EEXIST') throw fault;
    await removeTree(copy);
    await make();
  }
}

function nothing(fault: unknown): undefined {
  if (!moved.has(codeOf(fault))) throw fault;
}

function codeOf(fault: unknown): unknown {
  return (fault as NodeJS.ErrnoException).code;
}
