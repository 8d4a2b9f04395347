import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { sha256Hex } from '../core/base/digest.ts';
import { WritError } from '../core/base/errors.ts';
import { absent } from '../core/base/files.ts';
import { isAuthentic } from './is-authentic.ts';
import type { WitnessedJournal } from './journal-witness.ts';
import { type JournalRecord, type ParsedJournal, parseJournal } from './parse-journal.ts';
import { toVouchedLine } from './vouched-line.ts';

export interface JournalOptions {
  readonly clock: Clock;
  /** Each append is on disk before it resolves; default true. */
  readonly fsync?: boolean;
  /**
   * Vouches for what is appended, and says whether what is there was vouched for; absent: nobody does. Closed with the
   * journal.
   */
  readonly witness?: WitnessedJournal;
  /** Nobody in this process reads it again: what was read is not remembered for that; default false. */
  readonly isReadOnce?: boolean;
}

interface Waiting {
  readonly type: string;
  readonly data: unknown;
  readonly resolve: (record: JournalRecord) => void;
  readonly reject: (fault: unknown) => void;
}

/**
 * One run's append-only journal: a line per record, each holding the digest of the line before. Appends are ordered,
 * and written together where they come together. One writer at a time (RunLock); readers need no lock.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #clock: Clock;
  readonly #fsync: boolean;
  readonly #path: string;
  readonly #witness: WitnessedJournal | undefined;
  /**
   * Whether this user wrote, on this machine, every record that was there when it was opened, and none after them is
   * missing.
   */
  readonly isAuthentic: boolean;
  #records: JournalRecord[];
  #count: number;
  #isKept = true;
  #size: number;
  /** The last bytes of the file, as this process read or wrote them. */
  #tail: Buffer;
  #prev: string;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;

  private constructor(
    file: FileHandle,
    path: string,
    options: JournalOptions,
    { found, bytes }: { readonly found: ParsedJournal; readonly bytes: Buffer },
  ) {
    this.#file = file;
    this.#path = path;
    this.#clock = options.clock;
    this.#fsync = options.fsync ?? true;
    this.#witness = options.witness;
    this.isAuthentic = options.witness !== undefined && isAuthentic(found, options.witness);
    this.#records = [...found.records];
    this.#count = found.records.length;
    this.#size = found.goodBytes;
    this.#tail = tailOf(bytes.subarray(0, found.goodBytes));
    this.#prev = found.lastDigest;
  }

  /**
   * Opens or creates the journal at `path` for writing; a torn last line is cut off first, unless a witness does not
   * vouch for the rest. JOURNAL_CORRUPT, EVIDENCE_WRITE_FAILED.
   */
  static async open(path: string, options: JournalOptions): Promise<Journal> {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
      const file = await open(path, flags, 0o600);
      try {
        const bytes = await file.readFile();
        const found = parseJournal(bytes, path, options.isReadOnce);
        const journal = new Journal(file, path, options, { found, bytes });
        const isCut = options.witness !== undefined && !journal.isAuthentic;
        // Of one that is not believed nothing is taken away: an end that was lost may be all that it lacks.
        if (found.isTorn && !isCut) await file.truncate(found.goodBytes);
        if (found.isTorn && isCut) journal.#keepEnd(bytes);
        if (options.fsync ?? true) await syncDirectory(dirname(path));
        // Known before its first record: a journal of which nobody knows how far it reached may have been cut.
        // One that was emptied stays known as it was: else an older one in its place would be believed next.
        if (found.records.length === 0 && !isCut)
          await options.witness?.reach({ records: 0, digest: found.lastDigest });
        return journal;
      } catch (fault) {
        await file.close();
        throw fault;
      }
    } catch (fault) {
      throw fault instanceof WritError ? fault : writeFailed(path, fault);
    }
  }

  /** Every record so far, those of earlier processes included; none after `letGo`. */
  get records(): readonly JournalRecord[] {
    return this.#records;
  }

  /** Holds no records from now on: a journal may be larger than what anybody wants to keep in memory. */
  letGo(): void {
    this.#isKept = false;
    this.#records = [];
  }

  /**
   * Adds a record; resolves when it is written. EVIDENCE_WRITE_FAILED where it cannot be (disk full): the journal then
   * is as if it had not been asked, and later appends may succeed; also where another process has changed the file
   * since: nothing of that is taken away. `data` must be JSON.
   */
  append(type: string, data: unknown): Promise<JournalRecord> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(writeFailed(this.#path, new Error('the journal is closed')));
      this.#waiting.push({ type, data, resolve, reject });
      this.#writing ??= this.#drain();
    });
  }

  /** Waits for what was appended and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    await this.#file.close();
    await this.#witness?.[Symbol.asyncDispose]();
  }

  /** Nothing will go on from this journal: its witness need not remember it. */
  async forget(): Promise<void> {
    await this.#witness?.forget();
  }

  /** What is there stays, a torn end included. */
  #keepEnd(bytes: Buffer): void {
    this.#size = bytes.length;
    this.#tail = tailOf(bytes);
  }

  /**
   * Throws unless the path still leads to this file, and the file ends as this process left it. The lock of a journal
   * binds only programs that take it: another one may have appended to the file, cut it or put another in its place.
   */
  async #requireOwnEnd(): Promise<void> {
    const [own, there] = await Promise.all([this.#file.stat(), lstat(this.#path).catch(absent)]);
    const isSame = there !== undefined && there.ino === own.ino && there.dev === own.dev;
    if (!isSame || own.size !== this.#size) throw this.#changedElsewhere();
    const end = Buffer.alloc(this.#tail.length);
    const { bytesRead } = await this.#file.read(end, 0, end.length, this.#size - end.length);
    if (bytesRead !== end.length || !end.equals(this.#tail)) throw this.#changedElsewhere();
  }

  /** Takes away what a failed write left, and nothing that another process wrote. */
  async #takeBack(bytes: Buffer): Promise<void> {
    const { size } = await this.#file.stat();
    const left = Buffer.alloc(Math.max(0, Math.min(size - this.#size, bytes.length + 1)));
    const { bytesRead } = await this.#file.read(left, 0, left.length, this.#size);
    if (bytesRead === left.length && left.equals(bytes.subarray(0, left.length)))
      await this.#file.truncate(this.#size);
  }

  #changedElsewhere(): WritError {
    return new WritError('EVIDENCE_WRITE_FAILED', {
      message: `another program changed the journal \`${this.#path}\` while it was open: the record is refused`,
      detail: { path: this.#path, expected: this.#size },
      hints: ['end the other program, then start again; `writ fsck` says what is wrong with the journal'],
    });
  }

  async #drain(): Promise<void> {
    // Lets appends of the same tick share one write.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#write(batch);
      } catch (fault) {
        const failed = fault instanceof WritError ? fault : writeFailed(this.#path, fault);
        for (const { reject } of batch) reject(failed);
      }
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const made: JournalRecord[] = [];
    const lines: string[] = [];
    let prev = this.#prev;
    for (const { type, data } of batch) {
      const record = {
        seq: this.#count + made.length + 1,
        at: toRfc3339(this.#clock.now()),
        type,
        data: data ?? null,
        prev,
      };
      const line = toVouchedLine(record, this.#witness);
      // What a reader will see, not what the caller may change later.
      made.push(JSON.parse(line));
      lines.push(line, '\n');
      prev = sha256Hex(line);
    }
    const bytes = Buffer.from(lines.join(''));
    await this.#requireOwnEnd();
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
      if (this.#fsync) await this.#file.datasync();
    } catch (fault) {
      await this.#takeBack(bytes).catch(() => {});
      throw fault;
    }
    const { size } = await this.#file.stat();
    if (size !== this.#size + bytes.length) throw this.#changedElsewhere();
    this.#size = size;
    this.#tail = tailOf(Buffer.concat([this.#tail, bytes.subarray(-tailBytes)]));
    this.#prev = prev;
    this.#count += made.length;
    if (this.#isKept) this.#records.push(...made);
    // Should it fail, the witness knows of a shorter journal, and what is beyond that is vouched for all the same.
    await this.#witness?.reach({ records: this.#count, digest: prev }).catch(() => undefined);
    for (const [index, record] of made.entries()) batch[index]?.resolve(record);
  }
}

/** The end of a file that is compared before something is added to it: a record holds the digest of the one before. */
const tailBytes = 512;

function tailOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-tailBytes));
}

/** A file that was just created survives a power cut only when its directory is synced, too. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function writeFailed(path: string, cause: unknown): WritError {
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `the journal \`${path}\` could not be written${errno === undefined ? '' : `: ${errno}`}`,
    detail: { path, ...(errno === undefined ? {} : { errno }) },
    cause,
  });
}
