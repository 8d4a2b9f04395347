/* Writes blobs and trees into a scratch directory, few as loose objects and many as a pack. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { StartedProcess } from '../process/spawn.ts';
import { type GitDirectory, type GitSetting, gitFailed, gitLine, runGit, startGit, withGit } from './git.ts';
import { isTreeMode, objectId, type RawEntry } from './git-object.ts';
import { treeOf } from './resolve-commit.ts';
import type { Scratch } from './scratch.ts';
import { readTrees } from './tree.ts';

/** Existing trees are read from `from`, new objects are written to `to`. */
interface TreePlace {
  readonly from: GitDirectory;
  readonly to: Scratch & ObjectPlace;
}

/** Names are bytes (latin1), as git sorts them. */
interface Folder {
  readonly entries: Map<string, RawEntry>;
  readonly folders: Map<string, Folder>;
}

const treeMode = '040000';

/** An object id of a plain file, a mode with an object, or `undefined` to remove the path. */
export type TreeLeaf = string | { readonly mode: string; readonly object: string } | undefined;

/**
 * Writes these files over the tree `over`, if given; returns the id of the root. A file replaces what is at its path,
 * and a file where one of its directories is needed. Removals come first, apply to files only, and leave no empty
 * directory. With `durable` the new trees survive a power cut.
 */
export async function writeTree(
  place: TreePlace,
  files: ReadonlyMap<string, TreeLeaf>,
  over: string | undefined,
  durable = true,
): Promise<string> {
  const root = await openFolder(place, over);
  for (const [path, leaf] of files) if (leaf === undefined) await takeAway(place, root, partsOf(path));
  for (const [path, leaf] of files) {
    if (leaf === undefined) continue;
    const parts = partsOf(path);
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) folder = await enter(place, folder, part);
    folder.folders.delete(name);
    const { mode, object } = typeof leaf === 'string' ? { mode: '100644', object: leaf } : leaf;
    folder.entries.set(name, { name, mode, object });
  }
  return (await writeFolder(place, root, durable)) ?? writeLooseObject(place.to, emptyTree, durable);
}

const emptyTree = { type: 'tree', bytes: Buffer.alloc(0) } as const;

function partsOf(path: string): string[] {
  return Buffer.from(path).toString('latin1').split('/');
}

async function takeAway(place: TreePlace, root: Folder, parts: string[]): Promise<void> {
  const name = parts.pop() ?? '';
  let folder = root;
  for (const part of parts) {
    const existing = folder.entries.get(part);
    if (!folder.folders.has(part) && !(existing && isTreeMode(existing.mode))) return;
    folder = await enter(place, folder, part);
  }
  const existing = folder.entries.get(name);
  if (existing && !isTreeMode(existing.mode)) folder.entries.delete(name);
}

async function enter(place: TreePlace, folder: Folder, name: string): Promise<Folder> {
  const opened = folder.folders.get(name);
  if (opened) return opened;
  const existing = folder.entries.get(name);
  const below = await openFolder(place, existing && isTreeMode(existing.mode) ? existing.object : undefined);
  folder.entries.delete(name);
  folder.folders.set(name, below);
  return below;
}

async function openFolder({ from }: TreePlace, id: string | undefined): Promise<Folder> {
  const read = id === undefined ? [] : ((await readTrees(from, [id], 'latin1')).get(id) ?? []);
  return { entries: new Map(read.map((entry) => [entry.name, entry])), folders: new Map() };
}

/** `undefined` if it is empty. */
async function writeFolder(
  place: TreePlace,
  { entries, folders }: Folder,
  durable: boolean,
): Promise<string | undefined> {
  const all = [...entries.values()];
  for (const [name, folder] of folders) {
    const object = await writeFolder(place, folder, durable);
    if (object !== undefined) all.push({ name, mode: treeMode, object });
  }
  if (all.length === 0) return undefined;
  // git sorts a directory as if its name ended with a slash.
  const keyOf = ({ name, mode }: RawEntry): string => (isTreeMode(mode) ? `${name}/` : name);
  all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const bytes = all.flatMap(({ name, mode, object }) => [
    Buffer.from(`${mode.replace(/^0+/, '')} ${name}\0`, 'latin1'),
    Buffer.from(object, 'hex'),
  ]);
  return writeLooseObject(place.to, { type: 'tree', bytes: Buffer.concat(bytes) }, durable);
}

export interface ObjectPlace extends Pick<Scratch, 'objectsDir' | 'objectFormat'> {
  /** New objects by id, for `writeObjects`; nothing is written before that. */
  readonly collected?: Map<string, NewObject>;
}

export interface NewObject {
  readonly type: 'blob' | 'tree' | 'commit';
  readonly bytes: Uint8Array;
}

/**
 * Writes a loose object completely or not at all, as git does; returns its id. With `durable` it survives a power
 * cut.
 */
export async function writeLooseObject(
  place: ObjectPlace,
  { type, bytes }: NewObject,
  durable: boolean,
): Promise<string> {
  const id = objectId(place.objectFormat, type, bytes);
  if (place.collected) {
    place.collected.set(id, { type, bytes });
    return id;
  }
  const dir = join(place.objectsDir, id.slice(0, 2));
  const path = join(dir, id.slice(2));
  if (existsSync(path)) return id;
  // Loaded here: reading a repository does not need it.
  const { deflate } = await import('node:zlib');
  // git's own level for loose objects; they are packed later.
  const packed = await promisify(deflate)(Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]), {
    level: 1,
  });
  await makeLikeParent(dir);
  const draft = join(dir, `tmp_obj_${randomOctets(8).toString('hex')}`);
  try {
    const file = await open(draft, 'wx', 0o444);
    try {
      await file.writeFile(packed);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true });
    throw fault;
  }
  return id;
}

/** Creates a directory with the mode of its parent, which a repository shared by a group needs. */
export async function makeLikeParent(dir: string): Promise<void> {
  const made = await mkdir(dir, { recursive: true });
  if (made !== undefined) await chmod(dir, (await stat(join(dir, '..'))).mode & 0o7777);
}

/** Read once, in order. */
export type TreeFiles =
  | Iterable<readonly [path: string, bytes: Uint8Array]>
  | AsyncIterable<readonly [path: string, bytes: Uint8Array]>;

/** The names are never checked out, so a name that another system could not store is accepted. */
const anyName: readonly GitSetting[] = [
  ['core.protectNTFS', 'false'],
  ['core.protectHFS', 'false'],
];
/** As `fastimport.unpackLimit`. */
const fewFiles = 100;
const fewBytes = 4 * 1024 * 1024;
const chunkBytes = 128 * 1024;

/**
 * Writes a tree of plain files into a scratch, over the tree of `over` if given (read from `from`); returns its id.
 * Few files become loose objects, or are collected, without a process; any number of files is streamed into one pack.
 * INTERNAL for a path that would leave the tree.
 */
export async function importTree(
  scratch: Scratch & ObjectPlace,
  files: TreeFiles,
  over?: string,
  from: GitDirectory = scratch,
): Promise<string> {
  const source = each(files);
  const first = new Map<string, Uint8Array>();
  try {
    for (let bytes = 0; first.size <= fewFiles && bytes <= fewBytes; ) {
      const { value, done } = await source.next();
      if (done === true) return await writeFew({ from, to: scratch }, first, over);
      first.set(requireStorePath(value[0]), value[1]);
      bytes += value[1].length;
    }
    return await importMany(scratch, first, source, over);
  } finally {
    await source.return(undefined);
  }
}

async function* each(files: TreeFiles): AsyncGenerator<readonly [string, Uint8Array], undefined> {
  yield* files;
}

async function writeFew(
  place: TreePlace,
  files: ReadonlyMap<string, Uint8Array>,
  over: string | undefined,
): Promise<string> {
  const objects = new Map<string, string>();
  const write = async ([path, bytes]: readonly [string, Uint8Array]): Promise<void> => {
    objects.set(path, await writeLooseObject(place.to, { type: 'blob', bytes }, true));
  };
  // All writes end before a fault is thrown, because the scratch is then deleted.
  for (const one of await Promise.allSettled([...files].map(write)))
    if (one.status === 'rejected') throw one.reason;
  return writeTree(place, objects, over === undefined ? undefined : await treeOf(place.from, over));
}

/**
 * `git fast-import` could build the tree too, but its lookup of names is linear: 100,000 files in one directory need
 * a minute.
 */
async function importMany(
  scratch: Scratch,
  first: ReadonlyMap<string, Uint8Array>,
  rest: AsyncIterable<readonly [string, Uint8Array]>,
  over: string | undefined,
): Promise<string> {
  const place: Scratch = { ...scratch, settings: [...scratch.settings, ...anyName] };
  if (over !== undefined) await runGit(place, ['read-tree', over]);
  const blobs = feed(place, ['fast-import', '--quiet', '--done']);
  const index = feed(place, ['update-index', '-z', '--replace', '--index-info']);
  const put = async (path: string, bytes: Uint8Array): Promise<void> => {
    const id = objectId(place.objectFormat, 'blob', bytes);
    await blobs.put(`blob\ndata ${bytes.length}\n`, bytes, '\n');
    await index.put(`100644 ${id}\t${requireStorePath(path)}\0`);
  };
  try {
    for (const [path, bytes] of first) await put(path, bytes);
    for await (const [path, bytes] of rest) await put(path, bytes);
    await blobs.end('done\n');
    await index.end();
  } catch (fault) {
    await Promise.all([blobs.stop(), index.stop()]);
    throw fault;
  }
  // Fails if a blob is missing.
  return gitLine(place, ['write-tree']);
}

interface Feed {
  /** Keeps the bytes until a chunk is full; returns a promise only then. */
  put(...parts: readonly (string | Uint8Array)[]): Promise<void> | undefined;
  /** Closes the input and waits; GIT_FAILED for any exit code but 0. */
  end(last?: string): Promise<void>;
  stop(): Promise<void>;
}

/** Feeds git in chunks: a system call per file would cost more than the file. */
function feed(place: Scratch, args: readonly string[]): Feed {
  const git: StartedProcess = startGit(place, args);
  git.stdout.resume();
  let parts: Uint8Array[] = [];
  let held = 0;
  let ended = false;
  const onEnd = () => {
    ended = true;
  };
  git.exited.then(onEnd, onEnd);
  const flush = async (): Promise<void> => {
    const chunk = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    parts = [];
    held = 0;
    // A git that has ended never drains; its exit code shows why.
    if (!ended && !git.stdin.write(chunk))
      await Promise.race([once(git.stdin, 'drain'), git.exited]).catch(() => {});
  };
  const put = (...more: readonly (string | Uint8Array)[]): Promise<void> | undefined => {
    for (const part of more) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      parts.push(bytes);
      held += bytes.length;
    }
    return held < chunkBytes ? undefined : flush();
  };
  return {
    put,
    async end(last = '') {
      await put(last);
      await flush();
      git.stdin.end();
      const { code, stderr } = await withGit(() => git.exited);
      if (code !== 0) throw gitFailed(args, code, firstFatal(stderr.toString('utf8')));
    },
    async stop() {
      git.kill();
      await git.exited.catch(() => {});
    },
  };
}

/** fast-import prints its fatal line first, then a long crash report. */
function firstFatal(stderr: string): string {
  return stderr.split('\n').find((line) => line.startsWith('fatal:')) ?? stderr.slice(0, 500);
}

/** True for the path of a stored file: relative, without empty parts, `.`, `..`, `.git` and NUL. */
export function isStorePath(path: string): boolean {
  const isName = (part: string): boolean =>
    part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git';
  return !path.includes('\0') && path.split('/').every(isName);
}

/** INTERNAL for anything but the path of a stored file. */
export function requireStorePath(path: string): string {
  if (isStorePath(path)) return path;
  throw new WritError('INTERNAL', { message: `\`${path}\` is no path to store under`, detail: { path } });
}
