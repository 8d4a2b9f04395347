/* Parses journals and verifies their hash chain. */
import { open, readFile } from 'node:fs/promises';
import { sha256Hex } from '../core/base/canonical.ts';
import { WritError } from '../core/base/errors.ts';

export interface JournalRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  /** RFC 3339. */
  readonly at: string;
  readonly type: string;
  readonly data: unknown;
  /** SHA-256 of the line before, without its newline; 64 zeros for the first. */
  readonly prev: string;
  /** The MAC of its writer's witness; absent in a journal that travels. */
  readonly mac?: string;
}

export interface ParsedJournal {
  readonly records: readonly JournalRecord[];
  /** The last line is incomplete: its writer was killed, so it does not count. */
  readonly isTorn: boolean;
  /** Bytes up to the end of the last whole line. */
  readonly goodBytes: number;
  /** The `prev` of the next record. */
  readonly lastDigest: string;
  /** The last complete line, without its newline; empty if there is none. */
  readonly lastLine: string;
}

export const firstPrev = '0'.repeat(64);

const chunkBytes = 1024 * 1024;
const maxKnownBytes = 64 * 1024 * 1024;
const nothingKnown = {
  bytes: Buffer.alloc(0),
  records: [] as readonly JournalRecord[],
  lastDigest: firstPrev,
  lastLine: '',
};

/**
 * The journal that was parsed last. A journal only grows: if another one begins with these bytes, only the rest is
 * parsed.
 */
let known = nothingKnown;

/**
 * Reads the journal at `path` without a lock, also while another process writes it; empty if there is none.
 * JOURNAL_CORRUPT.
 */
export async function readJournal(path: string): Promise<ParsedJournal> {
  try {
    return parseJournal(await readFile(path), path);
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT')
      return parseJournal(new Uint8Array(), path);
    throw fault;
  }
}

/** True if the file has a complete line; the record is not validated. */
export async function isJournalBegun(path: string): Promise<boolean> {
  try {
    await using file = await open(path, 'r');
    const chunk = Buffer.alloc(64 * 1024);
    for (let at = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) return false;
      if (chunk.subarray(0, bytesRead).includes(10)) return true;
      at += bytesRead;
    }
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return false;
    throw fault;
  }
}

/**
 * Reads complete lines and verifies their chain; an incomplete last line is accepted. JOURNAL_CORRUPT names the line
 * (from 1). `isReadOnce`: the result is not cached.
 */
export function parseJournal(bytes: Uint8Array, path: string, isReadOnce = false): ParsedJournal {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const goodBytes = text.lastIndexOf(10) + 1;
  const before = text.subarray(0, known.bytes.length).equals(known.bytes) ? known : nothingKnown;
  const records = [...before.records];
  let prev = before.lastDigest;
  let { lastLine } = before;
  for (const line of eachLine(text.subarray(before.bytes.length, goodBytes))) {
    const record = parseRecord(line);
    const reason =
      record === undefined
        ? 'not a journal record'
        : record.seq !== records.length + 1
          ? `expected record ${records.length + 1}, found ${record.seq}`
          : record.prev !== prev
            ? 'the line before was changed'
            : undefined;
    if (record === undefined || reason !== undefined) {
      throw new WritError('JOURNAL_CORRUPT', {
        message: `line ${records.length + 1} of \`${path}\` is damaged: ${reason}`,
        detail: { path, line: records.length + 1, reason },
      });
    }
    records.push(record);
    prev = sha256Hex(line);
    lastLine = line;
  }
  if (!isReadOnce && records.length > before.records.length && goodBytes <= maxKnownBytes)
    known = {
      bytes: Buffer.from(text.subarray(0, goodBytes)),
      records: [...records],
      lastDigest: prev,
      lastLine,
    };
  return { records, isTorn: goodBytes < text.length, goodBytes, lastDigest: prev, lastLine };
}

/** Decodes many lines at once, which is as fast as parsing them. The text ends with a newline. */
function* eachLine(text: Buffer): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const rest = text.length - at;
    const end = rest <= chunkBytes ? text.length : text.indexOf(10, at + chunkBytes) + 1;
    yield* text.toString('utf8', at, end - 1).split('\n');
    at = end;
  }
}

function parseRecord(line: string): JournalRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is JournalRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { seq, at, type, prev, mac } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(seq) &&
    typeof at === 'string' &&
    typeof type === 'string' &&
    typeof prev === 'string' &&
    Object.hasOwn(value, 'data') &&
    (mac === undefined || typeof mac === 'string') &&
    Object.keys(value).length === (mac === undefined ? 5 : 6)
  );
}
