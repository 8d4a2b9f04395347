/* Copies a working tree for a command, copies only what changed the next time, and lists what the command changed. */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
} from 'node:fs';
import { copyFile, lstat, mkdir, readlink, realpath, statfs, symlink } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { maxListBytes, runGit } from './git.ts';
import { isTrackedState, type Repository } from './repository.ts';
import { removeTree } from './torn-paths.ts';

/** A copy of a working tree. */
export interface CopiedTree {
  /** Paths that were added, changed or deleted in the copy since it was made, sorted, at most `copyLimits.changes`. */
  changed(): Promise<readonly CopyChange[]>;
  /** The states of the copied files right after the copy. */
  readonly made: CopiedStates;
  /** Paths that could not be read or copied, sorted. */
  readonly leftOut: readonly string[];
  /** States of the source files that cannot have been written to while they were copied. */
  readonly sources: ReadonlyMap<string, string>;
}

/** Most files, bytes and reported changes of a copy. */
export const copyLimits = { files: 200_000, bytes: 4 * 2 ** 30, changes: 1000 } as const;
const atOnce = 16;
/** Faults of one file, which leave it out: no permission, a path too long for the copy, a file that keeps changing. */
const ofOneFile: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'ESTALE']);
/** A file that changed less than this before it was copied can change again without a new timestamp. */
const longestTickNs = 2_000_000_000n;

type LastCopy = Pick<CopiedTree, 'made' | 'sources'>;

/**
 * Copies the working tree to the empty directory `to`: tracked and untracked files as they are on disk. Ignored files
 * and the git directory are not copied; of `.writ/`, only files that repositories track are. Submodules and nested
 * repositories become empty directories. Links are copied as links and never followed.
 *
 * `last`: the existing copy at `to`. An unmodified entry of it is kept if its source did not change. All other
 * entries are removed. Throws WORKTREE_TOO_LARGE.
 */
export async function copyWorkTree(
  repository: Repository,
  to: string,
  signal: AbortSignal,
  { last, tickNs = longestTickNs }: { readonly last?: LastCopy; readonly tickNs?: bigint } = {},
): Promise<CopiedTree> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runGit(repository, args, { maxBytes: maxListBytes, signal });
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
    // The source may have changed since the kept entries were listed.
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
    leftOut: leftOut.sort().slice(0, copyLimits.changes),
    sources: isTold && (await ticksAfter(to, newestOf(made))) ? settled(sources, made, tickNs) : new Map(),
    changed: async () => changesBetween(made, await statesIn(target), copyLimits.changes),
  };
}

function newestOf({ states }: CopiedStates): bigint {
  let newest = 0n;
  for (const { ctimeNs } of states.values()) if (ctimeNs > newest) newest = ctimeNs;
  return newest;
}

/** Returns the states of sources that are certain to change at the next write. */
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

/** Removes from an earlier copy what differs from the source; returns the names that are still equal. */
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
    // Directories too: what replaced one may lead elsewhere.
    const source = statAt(Buffer.concat([from, Buffer.from(path, 'latin1')]));
    if (isDirectory) return source?.isDirectory() === true;
    return source !== undefined && sources.get(path) === toState(source).state;
  };
  const gone = new Set<string>();
  for (const [path, state] of states) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (gone.has(parent) || !isKept(path, state)) {
      gone.add(path);
      // Every directory above it was kept, so no link leads out of the copy.
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
    // A nested repository is listed as a directory.
    const isDirectory = listed[end - 1] === 0x2f;
    names.push(listed.subarray(at, isDirectory ? end - 1 : end));
    at = end + 1;
  }
  return names;
}

/** Of `.writ/`, only what repositories track: tokens and journals are in the same directory. */
function isShown(name: Buffer): boolean {
  const text = name.toString('utf8');
  return !/^\.writ(?:\/|$)/i.test(text) || isTrackedState(text.toLowerCase());
}

/** A git directory can have another name and be inside the working tree; git then lists it like any directory. */
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

/** Creates each directory of the copy once. Does not enter an entry that is not a directory in the working tree. */
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

/** After the first fault no new item is started, and all work has ended when the fault is thrown. */
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
    message: `the working tree is too large to copy: expected at most ${limit} ${what}, found ${found}`,
    detail: { expected: limit, found },
  });
}

/**
 * ext, XFS, Btrfs and F2FS (statfs(2)) change the timestamp for a write through a mapped page. tmpfs does not; others
 * are unknown.
 */
const exactTimestamps: ReadonlySet<bigint> = new Set([0xef53n, 0x58465342n, 0x9123683en, 0xf2f52010n]);
/** Longest wait for a tick of the file system's clock. */
const longestWaitMs = 100;

/** True if every write to a file below `path` changes its timestamp, once the clock has ticked. */
export async function showsWrites(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return exactTimestamps.has((await statfs(path, { bigint: true })).type);
}

/**
 * Waits until the file system of a directory that writ owns has a clock later than `ctimeNs`; false if that exceeds
 * the time limit.
 */
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

/** A pipe without a writer must not block. */
const asItself = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const asNew = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
/** Another entry, or none, is at the path since it was listed. */
const moved: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO']);
const mostLooks = 5;

interface EntryAsked {
  /** True if the copy of this state exists already. */
  isKnown(state: string): boolean;
  /** Throws if so many more bytes exceed the limit. */
  admit(octets: number): void;
}

/**
 * Copies the entry at `source` to `copy`, replacing an existing entry. A link is copied as a link; one that appears
 * during the copy is not followed. Returns `undefined` if the source is missing. Throws EACCES without permission,
 * and ESTALE if the entry was replaced during each attempt.
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
      await replacing(copy, () => symlink(target, copy));
      return state;
    } else if (found.isDirectory()) {
      await makeDirectory(copy);
      return state;
      // A socket or a pipe has no content to copy.
    } else return undefined;
  }
  throw Object.assign(new Error(`\`${source}\` is another file at each look`), { code: 'ESTALE' });
}

/** Creates a directory, and replaces a link at its path, which would lead out of the copy. */
export async function makeDirectory(copy: Buffer): Promise<void> {
  if (lstatSync(copy, { throwIfNoEntry: false })?.isDirectory() === true) return;
  await replacing(copy, () => mkdir(copy));
}

/** Returns `undefined` if the file no longer exists. */
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
    // Linux names the path of an open file, even if a directory above it was replaced, and copies exactly that file.
    const opened = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${file}`) : undefined;
    if (opened && !readlinkSync(opened, { encoding: 'buffer' }).equals(source)) return undefined;
    admit(Number(found.size));
    await replacing(copy, () => copyFile(opened ?? source, copy, asNew));
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

async function replacing(copy: Buffer, make: () => Promise<void>): Promise<void> {
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

/** Differs after every write: the change time cannot be set. */
interface CopiedState {
  readonly state: string;
  readonly isDirectory: boolean;
  readonly ctimeNs: bigint;
}

/** Entries below a directory by path (bytes as latin1), directories before their content. */
interface CopiedStates {
  readonly states: ReadonlyMap<string, CopiedState>;
  /** State of the directory itself, because a command may change its permissions. */
  readonly root?: string;
  /** False if the limits were exceeded or a directory could not be read. */
  readonly isWhole: boolean;
}

export interface CopyChange {
  readonly path: string;
  readonly was: 'added' | 'changed' | 'deleted';
}

const looksThrough = { entries: 400_000, octets: 128 * 2 ** 20 } as const;
/** Work between two yields to the event loop. */
const sliceMs = 8;

function openSlices(): () => Promise<void> {
  let ends = systemClock.monotonic() + sliceMs;
  return async () => {
    if (systemClock.monotonic() < ends) return;
    await setImmediate();
    ends = systemClock.monotonic() + sliceMs;
  };
}

/** A directory changes with its content, so its state is only its inode and mode. */
function toState(found: BigIntStats): CopiedState {
  const { ino, mode, size, ctimeNs } = found;
  const isDirectory = found.isDirectory();
  const parts = isDirectory ? [ino, mode] : [ino, mode, size, ctimeNs];
  return { state: parts.join(' '), isDirectory, ctimeNs };
}

function statAt(path: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/** `root` ends with a slash. Its content is untrusted: any number of entries with any name. */
export async function statesIn(
  root: Buffer,
  most: { readonly entries: number; readonly octets: number } = looksThrough,
): Promise<CopiedStates> {
  const states = new Map<string, CopiedState>();
  const own = statAt(root.subarray(0, -1));
  const looked = { ...(own === undefined ? {} : { root: toState(own).state }), states };
  const pending: Buffer[] = [Buffer.alloc(0)];
  const slice = openSlices();
  let isWhole = true;
  let octets = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const below = next.length === 0 ? next : Buffer.concat([next, Buffer.from('/')]);
    try {
      for (const entry of entryNames(Buffer.concat([root, next]))) {
        const name = Buffer.concat([below, entry]);
        octets += name.length;
        if (states.size >= most.entries || octets > most.octets) return { ...looked, isWhole: false };
        const found = lstatSync(Buffer.concat([root, name]), { bigint: true });
        if (found.isDirectory()) pending.push(name);
        states.set(name.toString('latin1'), toState(found));
        await slice();
      }
    } catch {
      // A command may have removed the permissions, or made the path too long.
      isWhole = false;
    }
  }
  return { ...looked, isWhole };
}

/** One at a time: a directory may be larger than memory. */
function* entryNames(directory: Buffer): Generator<Buffer> {
  const listing = opendirSync(directory as unknown as string, { encoding: 'buffer' as BufferEncoding });
  try {
    for (let entry = listing.readSync(); entry !== null; entry = listing.readSync())
      yield entry.name as unknown as Buffer;
  } finally {
    listing.closeSync();
  }
}

/** Changes of files, sorted. If a listing is incomplete, no file is reported as added or deleted. */
export function changesBetween(
  before: CopiedStates,
  after: CopiedStates,
  most: number,
): readonly CopyChange[] {
  const come = [...after.states].flatMap(([path, { state, isDirectory }]): CopyChange[] => {
    const was = before.states.get(path)?.state;
    if (isDirectory || was === state || (was === undefined && !before.isWhole)) return [];
    return [{ path, was: was === undefined ? 'added' : 'changed' }];
  });
  const gone = [...before.states].flatMap(([path, { isDirectory }]): CopyChange[] =>
    isDirectory || after.states.has(path) || !after.isWhole ? [] : [{ path, was: 'deleted' }],
  );
  return [...come, ...gone]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .slice(0, most)
    .map(({ path, was }) => ({ path: Buffer.from(path, 'latin1').toString('utf8'), was }));
}
