/* Appends to the journal of a run, and detects changes by other programs. */
import { constants, fstatSync, ftruncateSync, lstatSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sha256Hex } from '../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import { syncPath } from '../core/base/files.ts';
import { isAuthentic, toVouchedLine, type WitnessedJournal } from './journal-witness.ts';
import { type JournalRecord, type ParsedJournal, parseJournal } from './parse-journal.ts';

export interface JournalOptions {
  readonly clock: Clock;
  /** Adds MACs and verifies those that are there; closed with the journal. */
  readonly witness?: WitnessedJournal;
  /** This process will not read the journal again, so nothing is cached; default false. */
  readonly isReadOnce?: boolean;
}

/**
 * The append-only journal of one run: one line per record, each with the digest of the line before. A written line
 * survives a kill of this process; only `sync` makes it survive a power cut
 * (`docs/decisions/0026-journal-barriers.md`). One writer at a time (RunLock); readers need no lock.
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
  /** What was there or survives a power cut: a journal without an append here is not touched, nor is its witness. */
  #synced: number;
  #syncing: Promise<void> = Promise.resolve();
  #unsynced: WritError | undefined;
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
    this.#synced = this.#size;
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
        await syncPath(dirname(path));
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
   * Adds a record (`data` must be JSON), written when this resolves. EVIDENCE_WRITE_FAILED if it cannot be written
   * (disk full); the journal is then as before, and later appends may succeed. Also if another process changed the
   * file, which is then left alone.
   */
  async append(type: string, data: unknown): Promise<JournalRecord> {
    if (this.#closed) throw writeFailed(this.#path, new Error('the journal is closed'));
    if (this.#unsynced) throw this.#unsynced;
    try {
      return this.#write(type, data);
    } catch (fault) {
      throw fault instanceof WritError ? fault : writeFailed(this.#path, fault);
    }
  }

  /**
   * Resolves when every record so far survives a power cut, and the witness knows them. EVIDENCE_WRITE_FAILED if the
   * disk refused them: it is then unknown what it holds, and later appends fail as well.
   */
  sync(): Promise<void> {
    const size = this.#size;
    this.#syncing = this.#syncing.catch(() => undefined).then(() => this.#flush(size));
    return this.#syncing;
  }

  /** Syncs what was appended and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.sync().catch(() => undefined);
    await this.#file.close();
    await this.#witness?.[Symbol.asyncDispose]();
  }

  /** The witness forgets this journal: no process will continue it. */
  async forget(): Promise<void> {
    await this.#witness?.forget();
  }

  #keepEnd(bytes: Buffer): void {
    this.#size = bytes.length;
    this.#synced = this.#size;
    this.#tail = tailOf(bytes);
  }

  /**
   * Throws unless the path still leads to this file, and the file ends as this process left it. Other programs ignore
   * the lock of a journal: one may have appended to the file, cut it or replaced it.
   */
  #requireOwnEnd(): void {
    const own = fstatSync(this.#file.fd);
    const there = lstatSync(this.#path, { throwIfNoEntry: false });
    const isSame = there !== undefined && there.ino === own.ino && there.dev === own.dev;
    if (!isSame || own.size !== this.#size) throw this.#changedElsewhere();
    const end = Buffer.alloc(this.#tail.length);
    const bytesRead = readSync(this.#file.fd, end, 0, end.length, this.#size - end.length);
    if (bytesRead !== end.length || !end.equals(this.#tail)) throw this.#changedElsewhere();
  }

  /** Removes the rest of a failed write, but no data of another process. */
  #takeBack(bytes: Buffer): void {
    const { size } = fstatSync(this.#file.fd);
    const left = Buffer.alloc(Math.max(0, Math.min(size - this.#size, bytes.length + 1)));
    const bytesRead = readSync(this.#file.fd, left, 0, left.length, this.#size);
    if (bytesRead === left.length && left.equals(bytes.subarray(0, left.length)))
      ftruncateSync(this.#file.fd, this.#size);
  }

  #changedElsewhere(): WritError {
    return new WritError('EVIDENCE_WRITE_FAILED', {
      message: `another program changed the journal \`${this.#path}\` while it was open: the record is refused`,
      detail: { path: this.#path, expected: this.#size },
      hints: ['end the other program, then start again; `writ fsck` says what is wrong with the journal'],
    });
  }

  /** Synchronous: a line is a few microseconds, and each round through a thread is many. */
  #write(type: string, data: unknown): JournalRecord {
    const at = toRfc3339(this.#clock.now());
    const made = { seq: this.#count + 1, at, type, data: data ?? null, prev: this.#prev };
    const line = toVouchedLine(made, this.#witness);
    const bytes = Buffer.from(`${line}\n`);
    this.#requireOwnEnd();
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file.fd, bytes, done);
    } catch (fault) {
      try {
        this.#takeBack(bytes);
      } catch {
        // The next append finds the file longer than it should be.
      }
      throw fault;
    }
    if (fstatSync(this.#file.fd).size !== this.#size + bytes.length) throw this.#changedElsewhere();
    this.#size += bytes.length;
    this.#tail = tailOf(Buffer.concat([this.#tail, bytes.subarray(-tailBytes)]));
    this.#prev = sha256Hex(line);
    this.#count += 1;
    // As a reader will see it, whatever the caller changes later.
    const record: JournalRecord = JSON.parse(line);
    if (this.#isKept) this.#records.push(record);
    return record;
  }

  async #flush(size: number): Promise<void> {
    if (this.#unsynced) throw this.#unsynced;
    // One call is for all who wait: it syncs what was appended meanwhile, too.
    if (this.#synced >= size) return;
    const written = this.#size;
    const reach = { records: this.#count, digest: this.#prev };
    try {
      await this.#file.datasync();
    } catch (fault) {
      this.#unsynced = writeFailed(this.#path, fault);
      throw this.#unsynced;
    }
    this.#synced = written;
    // Only now: the witness must never know more than the disk holds. If this fails, it knows a shorter journal.
    await this.#witness?.reach(reach).catch(() => undefined);
  }
}

/** Compared before each write: a record holds the digest of the one before. */
const tailBytes = 512;

function tailOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-tailBytes));
}

function writeFailed(path: string, cause: unknown): WritError {
  const errno = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  return new WritError('EVIDENCE_WRITE_FAILED', {
    message: `the journal \`${path}\` could not be written${errno === undefined ? '' : `: ${errno}`}`,
    detail: { path, ...(errno === undefined ? {} : { errno }) },
    cause,
  });
}
