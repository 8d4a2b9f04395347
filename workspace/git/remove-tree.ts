import { chmodSync, lstatSync, opendirSync, renameSync, unlinkSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../core/base/clock.ts';

/**
 * Beyond this many octets a directory is moved up before it is entered: PATH_MAX is 4096 on Linux and 1024 on macOS.
 */
const maxPathBytes = 700;
/** Directories of one listing that are kept in memory at once. */
const maxListed = 1024;
/** A directory that is found full so often after it was emptied is being filled by somebody. */
const maxReturns = 100;
/** Work between two looks at what else there is to do. */
const sliceMs = 8;

/**
 * Deletes what stands at `path`, a link in its place rather than what it leads to, whatever a check made of it: names
 * that are no UTF-8, directories without rights, any depth, any number of files (in bounded memory). Nothing there is
 * no fault.
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
        // A directory that moves is written to: its `..` changes.
        chmodSync(child, 0o700);
        const place = (): Buffer => Buffer.concat([root, Buffer.from(`/.writ-removed-${++moved}`)]);
        let to = place();
        while (isDirectory(to)) to = place();
        withRights(directory, () => renameSync(child, to));
      }
    } else pending.push(...inner);
  }
}

/** False where it is a directory after all: some file systems do not say so in their listings. */
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
 * False where something is in it again. Where the root stands is not ours to change. Files of a moment never had
 * blocks; a directory has one, and giving it back waits for the journal of the file system: others of us go on
 * meanwhile.
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

/** Does something in a directory, and once more with all rights to it where they are what is missing. */
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
