/* Finds the tracked files of an exported tree that a check changed. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { copyFile, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hashOpenFile } from './directory-digest.ts';
import { askGit, type GitDirectory, gitFailed, maxListBytes } from './git.ts';
import { objectHash } from './git-object.ts';
import { describeObjects } from './read-objects.ts';
import type { SmallEntry, SmallTree } from './workspace.ts';

export interface ExportedFiles {
  /**
   * Tracked paths that are gone or have other content, sorted. Modes, submodules and untracked files do not count,
   * nor does a file that was rewritten with the same bytes.
   */
  changed(): Promise<readonly string[]>;
}

const chunkBytes = 256 * 1024;

/**
 * Keeps git's index of a fresh export at `indexFile`, outside of the directory. Git compares contents only if size,
 * inode, change time (which no program can set) or the second of the export leave a doubt. Files in the directory,
 * such as attributes or config, have no influence. A tree that is kept in memory (`small`) is compared byte by byte.
 * `shown`: files that were written with other content than git stores.
 */
export async function rememberExport(
  objects: GitDirectory,
  directory: string,
  indexFile: string,
  small?: SmallTree,
  shown: ReadonlyMap<string, unknown> = new Map(),
): Promise<ExportedFiles> {
  if (small !== undefined)
    return {
      async changed() {
        openOwn(directory);
        return changedOfSmallTree(small, directory);
      },
    };
  await copyFile(join(directory, '.git', 'index'), indexFile);
  const place: GitDirectory = {
    ...objects,
    cwd: directory,
    env: { ...objects.env, GIT_WORK_TREE: directory, GIT_INDEX_FILE: indexFile },
    settings: [...objects.settings, ['core.trustctime', 'true'], ['core.checkstat', 'default']],
  };
  const timesOf = (path: string): string => {
    const found = lstatSync(join(directory, path), { bigint: true, throwIfNoEntry: false });
    return found === undefined ? '' : `${found.ino} ${found.size} ${found.ctimeNs}`;
  };
  const exported = new Map([...shown.keys()].map((path) => [path, timesOf(path)]));
  return {
    // These are not what git stores, so their times decide.
    async changed() {
      const written = [...exported].flatMap(([path, times]) => (timesOf(path) === times ? [] : [path]));
      const found = await findChanged(place, directory);
      return [...found.filter((path) => !exported.has(path)), ...written].sort();
    },
  };
}

/** A check may have removed its own permissions. */
function openOwn(directory: string): void {
  if (lstatSync(directory).isDirectory()) chmodSync(directory, 0o755);
}

interface Doubt {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
}

async function findChanged(place: GitDirectory, directory: string): Promise<readonly string[]> {
  openOwn(directory);
  const args = ['diff-files', '--raw', '-z', '--no-renames', '--abbrev=64', '--ignore-submodules=all'];
  const { code, stdout, stderr } = await askGit(place, args, { maxBytes: maxListBytes });
  if (code !== 0) throw gitFailed(args, code, stderr);
  // git skips files that it may not read, and names them on stderr.
  const changed = new Set(stderr.split('\n').flatMap((line) => /^(.+): [^:]+$/.exec(line)?.[1] ?? []));
  const doubts: Doubt[] = [];
  const fields = stdout.toString('utf8').split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', now = '', object = ''] =
      /^:(\d{6}) (\d{6}) ([0-9a-f]+) /.exec(fields[at] ?? '') ?? [];
    const path = fields[at + 1] ?? '';
    // A link to a file of that name counts as changed, too.
    if (now === '000000') changed.add(path);
    else doubts.push({ path, mode, object });
  }
  const heads = await describeObjects(
    place,
    doubts.map(({ object }) => object),
  );
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (const [index, { path, mode, object }] of doubts.entries()) {
    const found = await blobAt(
      place.objectFormat,
      join(directory, path),
      mode,
      heads[index]?.sizeBytes ?? -1,
      chunk,
    );
    if (found !== object) changed.add(path);
  }
  return [...changed].sort();
}

/** The id that git would give the file; `undefined` if it cannot be read or has another size. */
async function blobAt(
  format: GitDirectory['objectFormat'],
  path: string,
  mode: string,
  size: number,
  chunk: Buffer,
): Promise<string | undefined> {
  const hash = objectHash(format, 'blob', size);
  if (mode === '120000') {
    const target = await readlink(path, { encoding: 'buffer' }).catch(() => undefined);
    return target?.length === size ? hash.update(target).digest('hex') : undefined;
  }
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    if (!status.isFile() || status.size !== size) return undefined;
    return await hashOpenFile(file, hash, chunk);
  } finally {
    await file.close();
  }
}

/** Paths of a small tree, written into `dir`, that have other content now, in the order of the tree. */
function changedOfSmallTree({ entries, directories }: SmallTree, dir: string): readonly string[] {
  // A link to a directory counts as gone, too.
  const gone = directories.filter((path) => !isDirectory(join(dir, path))).map((path) => `${path}/`);
  return entries
    .filter((entry) => gone.some((above) => entry.path.startsWith(above)) || !isAsItWas(entry, dir))
    .map(({ path }) => path);
}

function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isAsItWas({ path, mode, bytes }: SmallEntry, dir: string): boolean {
  let file: number | undefined;
  try {
    if (mode === '120000') return readlinkSync(join(dir, path), { encoding: 'buffer' }).equals(bytes);
    file = openSync(join(dir, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(file);
    return status.isFile() && status.size === bytes.length && readFileSync(file).equals(bytes);
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
