import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { copyFile, mkdir, readlink, symlink } from 'node:fs/promises';
import { type CopiedState, toState } from './copied-states.ts';
import { removeTree } from './remove-tree.ts';

/** What waits for somebody to write to it is opened without waiting. */
const asItself = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const asNew = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
/** Something else stands at a path, or nothing, since it was looked at. */
const moved: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO']);
/** How often one path is looked at. */
const mostLooks = 5;

/** What is asked about an entry before it is copied. */
export interface EntryAsked {
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
