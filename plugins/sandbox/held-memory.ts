import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Memory of an inode of a memory file system, which an empty file costs too. */
const inodeBytes = 1024;
/** The mappings of a process are read under a lock that it holds itself. */
const readMs = 500;

/**
 * Bytes that the processes (their directories in a `/proc`) and memory file systems hold, each shared page counted for
 * everybody: never less than `heldBytes`, and quickly known.
 */
export function heldAtMost(processes: readonly string[], directories: readonly string[]): number {
  let bytes = inFiles(processes, directories);
  for (const process of processes) bytes += ownBytes(process);
  return bytes;
}

/**
 * The same with each page counted once. Memory that processes map together may or may not lie in a file that is counted
 * too: the larger of the two counts, which errs for the processes, by half at most.
 */
export async function heldBytes(
  processes: readonly string[],
  directories: readonly string[],
): Promise<number> {
  let own = 0;
  let shared = 0;
  for (const process of processes) {
    const mapped = await mappedBytes(process);
    own += mapped?.own ?? ownBytes(process);
    shared += mapped?.shared ?? 0;
  }
  return own + Math.max(shared, inFiles(processes, directories));
}

function ownBytes(process: string): number {
  try {
    const status = readFileSync(`${process}/status`, 'latin1');
    return kibibytes(status, 'RssAnon') + kibibytes(status, 'RssShmem') + kibibytes(status, 'VmSwap');
  } catch {
    return 0; // Ended while we looked.
  }
}

/** Shares of this process in what it has mapped, without files of disks. `undefined` where nobody says. */
async function mappedBytes(process: string): Promise<{ own: number; shared: number } | undefined> {
  try {
    const text = await readFile(`${process}/smaps_rollup`, {
      encoding: 'latin1',
      signal: AbortSignal.timeout(readMs),
    });
    const shared = kibibytes(text, 'Pss_Shmem');
    return { own: kibibytes(text, 'Pss_Anon') + kibibytes(text, 'SwapPss'), shared };
  } catch {
    return undefined;
  }
}

/** Memory file systems of the sandbox, and files without a name that its processes hold open. */
function inFiles(processes: readonly string[], directories: readonly string[]): number {
  let bytes = 0;
  for (const directory of directories) {
    try {
      const { blocks, bfree, bsize, files, ffree } = statfsSync(directory);
      bytes += (blocks - bfree) * bsize + (files - ffree) * inodeBytes;
    } catch {
      // The sandbox is ending.
    }
  }
  const seen = new Set<number>();
  for (const process of processes) {
    for (const file of openMemoryFiles(process)) {
      if (seen.has(file.ino)) continue;
      seen.add(file.ino);
      bytes += file.blocks * 512;
    }
  }
  return bytes;
}

function openMemoryFiles(process: string): { ino: number; blocks: number }[] {
  const found: { ino: number; blocks: number }[] = [];
  try {
    for (const descriptor of readdirSync(`${process}/fd`)) {
      const link = `${process}/fd/${descriptor}`;
      // No file of the sandbox has such a path, because its root cannot be written: following the link asks no other
      // file system.
      if (readlinkSync(link).startsWith('/memfd:')) found.push(statSync(link));
    }
  } catch {
    // Ended while we looked.
  }
  return found;
}

function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
}
