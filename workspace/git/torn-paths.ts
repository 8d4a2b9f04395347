/* Decides for each path whether its content is the user's or what a killed git left. */
import { chmodSync, lstatSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { lstat, readFile, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../core/base/clock.ts';
import { entriesOf } from '../process/workspace-file.ts';
import { askGit, maxListBytes, runGit } from './git.ts';
import { type ChangedEntry, type EntrySide, fileAt, toIndexInfo, withEmptyIndex } from './held-index.ts';
import type { Repository } from './repository.ts';

/**
 * `done`: the wanted content; `ours`: content of writ or git that may be replaced; `absent`: no file; `left`: content
 * of the user.
 */
type TornState = 'done' | 'ours' | 'absent' | 'left';

interface PlacedSide {
  readonly path: string;
  readonly after: EntrySide | undefined;
}

const maxBlobBytes = 1024 * 1024 * 1024;
const linkMode = '120000';
const submoduleMode = '160000';

/**
 * Classifies each path after a git was killed between two trees. The content before, the content after, a beginning
 * of it, and a missing file are git's; all other content is the user's. git itself compares files with content, so
 * its rules for line endings, encodings, modes and symlinks apply.
 */
export async function classifyPaths(
  repo: Repository,
  changes: readonly ChangedEntry[],
): Promise<ReadonlyMap<string, TornState>> {
  const states = new Map<string, TornState>();
  const present: ChangedEntry[] = [];
  for (const change of changes) {
    const { path, after } = change;
    const full = fileAt(repo.root, path);
    const found = (await isBelowFile(repo.root, path)) ? 'below' : await lstat(full).catch(() => undefined);
    if (found === undefined) states.set(path, 'absent');
    // A path through a file or link, or one that is a directory now, counts as removed.
    else if (found === 'below' || found.isDirectory()) states.set(path, await classifyOther(full, after));
    else if (found.isFile() || found.isSymbolicLink()) present.push(change);
    else states.set(path, 'left');
  }
  const done = await unchangedPaths(repo, present);
  const others = present.filter(({ path }) => !done.has(path));
  const befores = others.map(({ path, before }) => ({ path, after: before }));
  const ours = await unchangedPaths(repo, befores);
  for (const { path } of present) if (done.has(path)) states.set(path, 'done');
  for (const { path, after } of others) {
    const isOurs = ours.has(path) || (await isWrittenFor(repo, path, after));
    states.set(path, isOurs ? 'ours' : 'left');
  }
  return states;
}

/** The paths at which git finds no difference between the file and the given side. */
export async function unchangedPaths(
  repo: Repository,
  sides: readonly PlacedSide[],
): Promise<ReadonlySet<string>> {
  const files = sides.filter(({ after }) => after !== undefined && after.mode !== submoduleMode);
  if (files.length === 0) return new Set();
  return withEmptyIndex(repo, async (index) => {
    const input = Buffer.from(toIndexInfo(repo, files), 'latin1');
    await runGit(index, ['update-index', '-z', '--index-info'], { input });
    // Marks equal files in the index; its exit code only reports that some differ.
    await askGit(index, ['update-index', '-q', '--refresh'], { maxBytes: maxListBytes });
    const args = ['diff-files', '-z', '--name-only', '--no-ext-diff', '--no-renames'];
    const listed = await runGit(index, args, { maxBytes: maxListBytes });
    const differing = new Set(listed.toString('latin1').split('\0'));
    return new Set(files.map(({ path }) => path).filter((path) => !differing.has(path)));
  });
}

export async function isBelowFile(root: string, path: string): Promise<boolean> {
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const found = await lstat(fileAt(root, above)).catch(() => undefined);
    if (found !== undefined && !found.isDirectory()) return true;
  }
  return false;
}

/** An empty directory may be removed; git does not know it. */
async function classifyOther(full: Buffer, after: EntrySide | undefined): Promise<TornState> {
  if (after === undefined) return 'absent';
  return rmdir(full).then(
    () => 'absent',
    () => 'left',
  );
}

/**
 * True if the file is a beginning of what git writes for this side. The whole content with another mode is a change
 * of the user.
 */
async function isWrittenFor(repo: Repository, path: string, side: EntrySide | undefined): Promise<boolean> {
  const full = fileAt(repo.root, path);
  const found = await lstat(full);
  // A line break would end the request.
  if (side === undefined || side.mode === linkMode || !found.isFile() || path.includes('\n')) return false;
  const input = Buffer.from(`${side.object} ${path}\n`, 'latin1');
  const answer = await runGit(repo, ['cat-file', '--batch', '--filters'], { input, maxBytes: maxBlobBytes });
  const whole = answer.subarray(answer.indexOf('\n') + 1, -1);
  if ((await stat(full)).size > whole.length) return false;
  const bytes = await readFile(full);
  if (!whole.subarray(0, bytes.length).equals(bytes)) return false;
  const isExecutable = (found.mode & 0o100) !== 0;
  return bytes.length < whole.length || isExecutable === (side.mode === '100755');
}

/* Deletes a directory whatever a check made of it. */

/** A directory with a longer path is moved up before it is entered: PATH_MAX is 4096 on Linux and 1024 on macOS. */
const maxPathBytes = 700;
const maxListed = 1024;
/** A directory that fills up so often is being written to. */
const maxReturns = 100;
/** Work between two yields to the event loop. */
const sliceMs = 8;

/**
 * Deletes the entry at `path`; of a link, not its target. Handles names that are not UTF-8, directories without
 * permissions, any depth, and any number of files (in bounded memory). A missing path is not an error.
 */
export async function removeTree(path: string | Buffer): Promise<void> {
  const root = typeof path === 'string' ? Buffer.from(path) : path;
  if (!isDirectory(root)) return unlinkIfThere(root);
  const pending: Buffer[] = [root];
  let moved = 0;
  let returns = 0;
  let sliceEnds = systemClock.monotonic() + sliceMs;
  for (let directory = pending.at(-1); directory !== undefined; directory = pending.at(-1)) {
    const inner: Buffer[] = [];
    for (const entry of withRights(directory, () => entriesOf(directory as Buffer))) {
      const child = Buffer.concat([directory, Buffer.from('/'), entry.name]);
      if (entry.isDirectory() || !removeFile(directory, child)) inner.push(child);
      if (inner.length >= maxListed) break;
      if (systemClock.monotonic() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = systemClock.monotonic() + sliceMs;
    }
    if (inner.length === 0) {
      if (removeEmpty(directory, directory === root)) pending.pop();
      else if (++returns > maxReturns) throw new Error(`\`${path}\` is being filled while it is removed`);
    } else if (inner.some((child) => child.length > maxPathBytes) && directory !== root) {
      for (const child of inner) {
        // Moving a directory writes to it: its `..` changes.
        chmodSync(child, 0o700);
        const place = (): Buffer => Buffer.concat([root, Buffer.from(`/.writ-removed-${++moved}`)]);
        let to = place();
        while (isDirectory(to)) to = place();
        withRights(directory, () => renameSync(child, to));
      }
    } else pending.push(...inner);
  }
}

/** False if it is a directory: some file systems do not report that in their listings. */
function removeFile(directory: Buffer, file: Buffer): boolean {
  try {
    withRights(directory, () => unlinkIfThere(file));
    return true;
  } catch (fault) {
    if (isDirectory(file)) return false;
    throw fault;
  }
}

function unlinkIfThere(file: Buffer): void {
  try {
    unlinkSync(file);
  } catch (fault) {
    if (codeOf(fault) !== 'ENOENT') throw fault;
  }
}

/** False if it has content again. The parent of the root is not changed. */
function removeEmpty(directory: Buffer, isRoot: boolean): boolean {
  try {
    const remove = (): void => rmdirSync(directory);
    if (isRoot) remove();
    else withRights(directory.subarray(0, directory.lastIndexOf('/')), remove);
    return true;
  } catch (fault) {
    if (codeOf(fault) === 'ENOTEMPTY') return false;
    if (codeOf(fault) !== 'ENOENT') throw fault;
    return true;
  }
}

/** Runs `act`, and once more with all permissions to the directory if they are missing. */
function withRights<T>(directory: Buffer, act: () => T): T {
  try {
    return act();
  } catch (fault) {
    if (!isMissingRight(fault)) throw fault;
    chmodSync(directory, 0o700);
    return act();
  }
}

function isMissingRight(fault: unknown): boolean {
  return codeOf(fault) === 'EACCES' || codeOf(fault) === 'EPERM';
}

function codeOf(fault: unknown): string | undefined {
  return (fault as NodeJS.ErrnoException).code;
}

function isDirectory(path: Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
