/** Reads a thread's journal incrementally for the list of threads. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { revealHidden } from '../../api/envelope.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { absent } from '../../core/base/files.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import { journalFile } from '../../store/run-directory.ts';
import { factsType } from './open-thread.ts';

/** Octets up to the end of the last line of a journal that was read, and the digest of that line. */
interface ChainPlace {
  readonly bytes: number;
  readonly digest: string;
}

/** How far reading came. */
interface ChainEnd extends ChainPlace {
  /** A line is malformed or does not continue the chain. Lines after it were not read. */
  readonly isDamaged: boolean;
}

const chunkBytes = 1024 * 1024;
/** Longer than any line that writ writes. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * Reads whole lines of a journal from a place on, a piece at a time, and calls `each` with every one that follows on
 * the one before. A last line without an end is not read yet.
 */
async function readChain(
  file: FileHandle,
  from: ChainPlace,
  each: (record: Readonly<Record<string, unknown>>) => void,
): Promise<ChainEnd> {
  let { bytes, digest } = from;
  const chunk = Buffer.alloc(chunkBytes);
  let rest: Buffer = Buffer.alloc(0);
  for (let at = bytes; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
    if (bytesRead === 0) return { bytes, digest, isDamaged: false };
    at += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let begin = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, begin)) {
      const line = rest.subarray(begin, end);
      const record = parseLine(line);
      if (record === undefined || record.prev !== digest) return { bytes, digest, isDamaged: true };
      digest = sha256Hex(line);
      each(record);
      bytes += line.length + 1;
      begin = end + 1;
    }
    rest = rest.subarray(begin);
    if (rest.length > maxLineBytes) return { bytes, digest, isDamaged: true };
  }
}

/** One line as an object; `undefined` where it is none. */
function parseLine(line: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** A thread as a list shows it. Times are milliseconds since the epoch. */
export interface ThreadSummary {
  readonly id: string;
  /** The first request, else the first command, on one line and cut. */
  readonly title?: string;
  /** The intent that was drafted last. */
  readonly currentIntentId?: string;
  readonly createdAtMs: number;
  /** Never before `createdAtMs`, and never earlier than it was: a clock may go back. */
  readonly updatedAtMs: number;
}

/**
 * Adds one record to a summary; `undefined` before the thread was opened. The record is untrusted and is validated.
 * Pure.
 */
function withRecord(
  before: ThreadSummary | undefined,
  threadId: string,
  facts: unknown,
): ThreadSummary | undefined {
  let summary = before;
  for (const fact of Array.isArray(facts) ? facts : []) {
    const said = membersOf(fact);
    const { atMs } = said;
    if (!isTime(atMs)) continue;
    if (summary !== undefined) {
      summary = { ...withFact(summary, said), updatedAtMs: Math.max(summary.updatedAtMs, atMs) };
    } else if (said.type === 'opened' && membersOf(said.ground).threadId === threadId) {
      summary = { id: threadId, createdAtMs: atMs, updatedAtMs: atMs };
    }
  }
  return summary;
}

function withFact(summary: ThreadSummary, { type, text, draft }: Members): ThreadSummary {
  if (type === 'said' && typeof text === 'string' && !isRequest(summary.title)) {
    const title = toTitle(text);
    const isBetter = title !== '' && (summary.title === undefined || isRequest(title));
    return isBetter ? { ...summary, title } : summary;
  }
  const { intentId } = membersOf(type === 'drafted' ? draft : undefined);
  return isPlainId(intentId) ? { ...summary, currentIntentId: intentId } : summary;
}

/** Whether a message, or a title, is a request and not a command such as `/network allow`. */
export function isRequest(text: string | undefined): text is string {
  return text !== undefined && !/^\s*[/!]/.test(text.slice(0, 200));
}

type Members = Readonly<Record<string, unknown>>;

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

const maxTitle = 80;
const maxId = 200;

function toTitle(text: string): string {
  const [...characters] = revealHidden(text.slice(0, 20 * maxTitle), () => ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  if (characters.length <= maxTitle) return characters.join('');
  return `${characters.slice(0, maxTitle - 1).join('')}…`;
}

function isPlainId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= maxId &&
    revealHidden(value, () => '') === value
  );
}

/** What is known of a thread's journal, and where reading it goes on. */
export interface ThreadScan extends ChainEnd {
  /** Absent where no session of this thread was opened in it. */
  readonly summary?: ThreadSummary;
  /** Of the file that was read; another one reads differently. */
  readonly stamp: string;
}

/** Stamp of a thread's journal, from its file metadata. `undefined` if there is no file. */
export async function stampOf(directory: string): Promise<string | undefined> {
  const found = await lstat(join(directory, journalFile), { bigint: true }).catch(absent);
  return found?.isFile() ? toStamp(found) : undefined;
}

function toStamp({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${ino} ${size} ${mtimeNs}`;
}

/**
 * Reads a thread's journal for a list. Reading continues where `before` ended if it is the same file and has only
 * grown. A damaged journal is read up to the damage. `undefined` if there is no file.
 */
export async function scanThread(
  directory: string,
  threadId: string,
  before?: ThreadScan,
): Promise<ThreadScan | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const path = join(directory, journalFile);
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((fault: NodeJS.ErrnoException) => {
    // A link or a device is not a journal of writ.
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

/** Milliseconds since the epoch that a date can be made of. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= lastTime;
}

const lastTime = 8.64e15;
