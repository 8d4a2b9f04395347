import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../core/base/files.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import { journalFile } from '../../store/run-directory.ts';
import { factsType } from './open-thread.ts';
import { type ChainEnd, readChain } from './read-chain.ts';
import { type ThreadSummary, withRecord } from './thread-summary.ts';

/** What is known of a thread's journal, and where reading it goes on. */
export interface ThreadScan extends ChainEnd {
  /** Absent where no session of this thread was opened in it. */
  readonly summary?: ThreadSummary;
  /** Of the file that was read; another one reads differently. */
  readonly stamp: string;
}

/** What the journal of a thread looks like from outside; `undefined` where there is no file. */
export async function stampOf(directory: string): Promise<string | undefined> {
  const found = await lstat(join(directory, journalFile), { bigint: true }).catch(absent);
  return found?.isFile() ? toStamp(found) : undefined;
}

function toStamp({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/**
 * Reads a thread's journal for a list, from where `before` ended if that is the same file and it has only grown. What
 * is damaged is known up to the damage. `undefined` where there is no file.
 */
export async function scanThread(
  directory: string,
  threadId: string,
  before?: ThreadScan,
): Promise<ThreadScan | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const path = join(directory, journalFile);
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((fault: NodeJS.ErrnoException) => {
    // What leads elsewhere is no journal of ours.
    if (fault.code === 'ELOOP' || fault.code === 'ENXIO') return undefined;
    return absent(fault);
  });
  if (file === undefined) return undefined;
  try {
    const found = await file.stat({ bigint: true });
    if (!found.isFile()) return undefined;
    const empty: ThreadScan = {
      stamp: toStamp(found),
      bytes: 0,
      digest: firstPrev,
      isDamaged: false,
    };
    const grown = before !== undefined && hasGrown(before, found) ? before : undefined;
    const read = await readOn(file, threadId, grown === undefined ? empty : { ...grown, stamp: empty.stamp });
    // Its beginning is not what was read then.
    const isOther = read.isDamaged && grown !== undefined && read.bytes === grown.bytes;
    return isOther ? await readOn(file, threadId, empty) : read;
  } finally {
    await file.close();
  }
}

function hasGrown(
  { stamp, bytes, isDamaged }: ThreadScan,
  { ino, size }: { ino: bigint; size: bigint },
): boolean {
  const [sameIno, sizeThen = '0'] = stamp.split(' ');
  return !isDamaged && sameIno === String(ino) && size > BigInt(sizeThen) && size > BigInt(bytes);
}

async function readOn(file: FileHandle, threadId: string, from: ThreadScan): Promise<ThreadScan> {
  let { summary } = from;
  const end = await readChain(file, from, ({ type, data }) => {
    if (type === factsType) summary = withRecord(summary, threadId, data);
  });
  return { ...from, ...(summary && { summary }), ...end };
}
