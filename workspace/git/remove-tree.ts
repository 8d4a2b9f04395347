/* Deletes a directory whatever a check made of it. */
import { chmodSync, lstatSync, opendirSync, renameSync, unlinkSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../core/base/clock.ts';

/** A directory with a longer path is moved up before it is entered: PATH_MAX is 4096 on Linux and 1024 on macOS. */
const maxPathBytes = 700;
const maxListed = 1024;
/** A directory that fills up so often is being written to. */
const maxReturns = 100;
/** Work between two yields to the event loop. */
const sliceMs = 8;

/**
 * Deletes the entry at `path`, a link rather than its target: names that are not UTF-8, directories without
 * permissions, any depth, any number of files (in bounded memory). A missing path is no fault.
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
    const listing = withRights(directory, () =>
      opendirSync(directory as unknown as string, { encoding: 'buffer' as BufferEncoding }),
    );
    try {
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        const child = Buffer.concat([directory, Buffer.from('/'), entry.name as unknown as Buffer]);
        if (entry.isDirectory() || !removeFile(directory, child)) inner.push(child);
        if (inner.length >= maxListed) break;
        if (systemClock.monotonic() < sliceEnds) continue;
        await setImmediate();
        sliceEnds = systemClock.monotonic() + sliceMs;
      }
    } finally {
      listing.closeSync();
    }
    if (inner.length === 0) {
      if (await removeEmpty(directory, directory === root)) pending.pop();
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

/**
 * False if it has content again. The parent of the root is not changed. rmdir is asynchronous, because it may wait
 * for the journal of the file system.
 */
async function removeEmpty(directory: Buffer, isRoot: boolean): Promise<boolean> {
  try {
    await rmdir(directory).catch((fault: unknown) => {
      if (isRoot || !isMissingRight(fault)) throw fault;
      chmodSync(directory.subarray(0, directory.lastIndexOf('/')), 0o700);
      return rmdir(directory);
    });
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
