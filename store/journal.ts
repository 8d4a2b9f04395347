/* Appends to the journal of a run, and detects changes by other programs. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sha256Hex } from '../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import { absent } from '../core/base/files.ts';
import { isAuthentic, toVouchedLine, type WitnessedJournal } from './journal-witness.ts';
import { type JournalRecord, type ParsedJournal, parseJournal } from './parse-journal.ts';

export interface JournalOptions {
  readonly clock: Clock;
  /** Adds MACs and verifies those that are there; closed with the journal. */
  readonly witness?: WitnessedJournal;
  /** This process will not read the journal again, so nothing is cached; default false. */
  readonly isReadOnce?: boolean;
}

interface Waiting {
  readonly type: string;
  readonly data: unknown;
  readonly resolve: (record: JournalRecord) => void;
  readonly reject: (fault: unknown) => void;
}

/**
 * The append-only journal of one run: one line per record, each with the digest of the line before. Appends keep
 * their order; simultaneous ones share a write. One writer at a time (RunLock); readers need no lock.
 */
export class Journal {
  readonly #file: FileHandle;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #witness: WitnessedJournal | undefined;
  /**
   * True if this user wrote, on this machine, every record that was there at the opening, and none after them is
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
    this.#witness = options.witness;
    this.isAuthentic = options.witness !== undefined && isAuthentic(found, options.witness);
    this.#records = [...found.records];
    this.#count = found.records.length;
    this.#size = found.goodBytes;
    this.#tail = tailOf(bytes.subarray(0, found.goodBytes));
    this.#prev = found.lastDigest;
  }

  /**
   * Opens or creates the journal for writing; a torn last line is cut off first, unless the witness does not know the
   * rest. JOURNAL_CORRUPT, EVIDENCE_WRITE_FAILED.
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
        // An unknown journal is not changed: it may lack only its lost end.
        if (found.isTorn && !isCut) await file.truncate(found.goodBytes);
        if (found.isTorn && isCut) journal.#keepEnd(bytes);
        await syncDirectory(dirname(path));
        // Recorded before the first record, because a journal of unknown reach may have been cut. An emptied journal
        // keeps its reach, else an older one in its place would be accepted next.
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

  /** Every record, those of earlier processes included; none after `letGo`. */
  get records(): readonly JournalRecord[] {
    return this.#records;
  }

  /** Stops keeping records, for journals that are too large for memory. */
  letGo(): void {
    this.#isKept = false;
    this.#records = [];
  }

  /**
   * Adds a record (`data` must be JSON); resolves when it is on disk. EVIDENCE_WRITE_FAILED if it cannot be written
   * (disk full); the journal is then as before, and later appends may succeed. Also if another process changed the
   * file, which is then left alone.
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

  /** The witness forgets this journal: no process will continue it. */
  async forget(): Promise<void> {
    await this.#witness?.forget();
  }

  #keepEnd(bytes: Buffer): void {
    this.#size = bytes.length;
    this.#tail = tailOf(bytes);
  }

  /**
   * Throws unless the path still leads to this file, and the file ends as this process left it. Other programs ignore
   * the lock of a journal: one may have appended to the file, cut it or replaced it.
   */
  async #requireOwnEnd(): Promise<void> {
    const [own, there] = await Promise.all([this.#file.stat(), lstat(this.#path).catch(absent)]);
    const isSame = there !== undefined && there.ino === own.ino && there.dev === own.dev;
    if (!isSame || own.size !== this.#size) throw this.#changedElsewhere();
    const end = Buffer.alloc(this.#tail.length);
    const { bytesRead } = await this.#file.read(end, 0, end.length, this.#size - end.length);
    if (bytesRead !== end.length || !end.equals(this.#tail)) throw this.#changedElsewhere();
  }

  /** Removes the rest of a failed write, but no data of another process. */
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
    // Appends of the same tick share one write.
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
      // As a reader will see it, whatever the caller changes later.
      made.push(JSON.parse(line));
      lines.push(line, '\n');
      prev = sha256Hex(line);
    }
    const bytes = Buffer.from(lines.join(''));
    await this.#requireOwnEnd();
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
      await this.#file.datasync();
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
    // If this fails, the witness knows a shorter journal. The lines after that still have MACs.
    await this.#witness?.reach({ records: this.#count, digest: prev }).catch(() => undefined);
    for (const [index, record] of made.entries()) batch[index]?.resolve(record);
  }
}

/** Compared before each write: a record holds the digest of the one before. */
const tailBytes = 512;

function tailOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-tailBytes));
}

/** A new file survives a power cut only if its directory is synced, too. */
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
