import { readFile } from 'node:fs/promises';
import { sha256Hex } from '../base/digest.ts';
import { WritError } from '../base/errors.ts';

/** One line of a journal. */
export interface JournalRecord {
  /** From 1, without gaps. */
  readonly seq: number;
  /** RFC 3339. */
  readonly at: string;
  readonly type: string;
  readonly data: unknown;
  /** SHA-256 of the line before, without its newline; 64 zeros on the first. */
  readonly prev: string;
}

export interface ParsedJournal {
  readonly records: readonly JournalRecord[];
  /** The last line has no end: its writer was stopped in the middle, so it never counted. */
  readonly isTorn: boolean;
  /** Bytes up to the end of the last whole line. */
  readonly goodBytes: number;
  /** What the next record's `prev` must be. */
  readonly lastDigest: string;
}

/** `prev` of the first record. */
export const firstPrev = '0'.repeat(64);

/** Reads the journal at `path` without a lock, also while another process writes it; no records where there is none. JOURNAL_CORRUPT. */
export async function readJournal(path: string): Promise<ParsedJournal> {
  try {
    return parseJournal(await readFile(path), path);
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT')
      return parseJournal(new Uint8Array(), path);
    throw fault;
  }
}

/** Reads whole lines and checks their chain. JOURNAL_CORRUPT names the line (from 1); only a torn last line is forgiven. */
export function parseJournal(bytes: Uint8Array, path: string): ParsedJournal {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: JournalRecord[] = [];
  let prev = firstPrev;
  let at = 0;
  for (let end = text.indexOf(10, at); end >= 0; end = text.indexOf(10, at)) {
    const line = text.subarray(at, end);
    const record = parseRecord(line.toString('utf8'));
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
    at = end + 1;
  }
  return { records, isTorn: at < text.length, goodBytes: at, lastDigest: prev };
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
  const { seq, at, type, prev, ...rest } = value as Record<string, unknown>;
  const named =
    Number.isSafeInteger(seq) &&
    typeof at === 'string' &&
    typeof type === 'string' &&
    typeof prev === 'string';
  return named && Object.keys(rest).join() === 'data';
}
